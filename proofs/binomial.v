(* The divergences of a binomial count from the same count with one more, and the worst number of people for them. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Binomial.
Variables (R : realFieldType) (p : R).
Hypotheses (p_gt0 : 0 < p) (p_lt1 : p < 1).
Implicit Types (n m j h : nat) (s : R).

Local Lemma q_gt0 : 0 < 1 - p. Proof. by rewrite subr_gt0. Qed.
Local Lemma p_ge0 : 0 <= p. Proof. exact: ltW p_gt0. Qed.
Local Lemma q_ge0 : 0 <= 1 - p. Proof. exact: ltW q_gt0. Qed.

(* P[X = m] for X ~ Bin(n, p). *)
Definition pmf n m : R := 'C(n, m)%:R * p ^+ m * (1 - p) ^+ (n - m).

Lemma pmf_ge0 n m : 0 <= pmf n m.
Proof. by rewrite /pmf !mulr_ge0 ?exprn_ge0 ?ler0n ?q_ge0 ?p_ge0. Qed.

Lemma pmf_big n m : (n < m)%N -> pmf n m = 0.
Proof. by move=> h; rewrite /pmf bin_small // !mul0r. Qed.

Lemma pmf0 n : pmf n.+1 0 = (1 - p) * pmf n 0.
Proof. by rewrite /pmf !bin0 !subn0 exprS; ring. Qed.

Lemma pmfS n m : pmf n.+1 m.+1 = p * pmf n m + (1 - p) * pmf n m.+1.
Proof.
rewrite /pmf binS natrD subSS exprS; case: (leqP m.+1 n) => h.
  by rewrite (_ : (n - m = (n - m.+1).+1)%N); [rewrite exprS; ring | lia].
by rewrite (bin_small h); ring.
Qed.

Lemma pmf_ratio n m : m.+1%:R * (1 - p) * pmf n m.+1 = (n - m)%:R * p * pmf n m.
Proof.
case: (leqP m.+1 n) => h; last first.
  by rewrite pmf_big // mulr0 (_ : (n - m = 0)%N) ?mul0r //; lia.
have hb : (m.+1%:R * 'C(n, m.+1)%:R = (n - m)%:R * 'C(n, m)%:R :> R) by rewrite -!natrM mul_bin_left.
rewrite /pmf exprS (_ : (n - m = (n - m.+1).+1)%N); last by lia.
rewrite exprS (_ : ((n - m.+1).+1 = n - m)%N); last by lia.
transitivity (m.+1%:R * 'C(n, m.+1)%:R * ((1 - p) * p * p ^+ m * (1 - p) ^+ (n - m.+1))); first by ring.
by rewrite hb; ring.
Qed.

Lemma pmf_total n : \sum_(m < n.+1) pmf n m = 1.
Proof.
transitivity (((1 - p) + p) ^+ n); last by rewrite subrK expr1n.
rewrite exprDn; apply: eq_bigr => i _.
by rewrite /pmf -[RHS]mulr_natl -mulrA [p ^+ i * _]mulrC.
Qed.

Local Opaque pmf.

(* The sign of a step decides between members and their neighbours. *)
Lemma up_sign n j s : pmf n j * (j.+1%:R * (1 - p) - s * (n - j)%:R * p) = j.+1%:R * (1 - p) * (pmf n j - s * pmf n j.+1).
Proof.
transitivity (j.+1%:R * (1 - p) * pmf n j - s * (j.+1%:R * (1 - p) * pmf n j.+1)); last by ring.
by rewrite pmf_ratio; ring.
Qed.

Lemma down_sign n j s : pmf n j * ((n - j)%:R * p - s * j.+1%:R * (1 - p)) = j.+1%:R * (1 - p) * (pmf n j.+1 - s * pmf n j).
Proof. by rewrite [RHS]mulrBr pmf_ratio; ring. Qed.

Local Lemma step_gt0 j : 0 < j.+1%:R * (1 - p). Proof. by rewrite mulr_gt0 ?ltr0Sn ?q_gt0. Qed.

Lemma up_le0 n j s : j.+1%:R * (1 - p) <= s * (n - j)%:R * p -> pmf n j <= s * pmf n j.+1.
Proof.
by move=> h; rewrite -subr_le0 -(pmulr_rle0 _ (step_gt0 j)) -up_sign mulr_ge0_le0 ?pmf_ge0 // subr_le0.
Qed.
Lemma up_ge0 n j s : s * (n - j)%:R * p <= j.+1%:R * (1 - p) -> s * pmf n j.+1 <= pmf n j.
Proof. by move=> h; rewrite -subr_ge0 -(pmulr_rge0 _ (step_gt0 j)) -up_sign mulr_ge0 ?pmf_ge0 // subr_ge0. Qed.
Lemma down_le0 n j s : (n - j)%:R * p <= s * j.+1%:R * (1 - p) -> pmf n j.+1 <= s * pmf n j.
Proof.
by move=> h; rewrite -subr_le0 -(pmulr_rle0 _ (step_gt0 j)) -down_sign mulr_ge0_le0 ?pmf_ge0 // subr_le0.
Qed.
Lemma down_ge0 n j s : s * j.+1%:R * (1 - p) <= (n - j)%:R * p -> s * pmf n j <= pmf n j.+1.
Proof. by move=> h; rewrite -subr_ge0 -(pmulr_rge0 _ (step_gt0 j)) -down_sign mulr_ge0 ?pmf_ge0 // subr_ge0. Qed.

(* With h = k - 1: the divergence of X + 1 from X where counts below k look alike, and of X from X + 1. *)
Definition more n h s : R := \sum_(h <= j < n.+1) pos (pmf n j - s * pmf n j.+1).
Definition fewer n h s : R :=
  pos (\sum_(0 <= j < h.+1) pmf n j - s * \sum_(0 <= j < h) pmf n j) + \sum_(h <= j < n) pos (pmf n j.+1 - s * pmf n j).
(* Their closed forms at the threshold: P[X = h] - (s - 1) P[X > h] and P[X = h] - (s - 1) P[X < h]. *)
Definition more_at n h s : R := pmf n h - (s - 1) * \sum_(h.+1 <= j < n.+1) pmf n j.
Definition fewer_at n h s : R := pmf n h - (s - 1) * \sum_(0 <= j < h) pmf n j.

Lemma shift n h : (h <= n)%N -> \sum_(h <= j < n.+1) pmf n j.+1 = \sum_(h.+1 <= j < n.+1) pmf n j.
Proof.
move=> hn; transitivity (\sum_(h.+1 <= j < n.+2) pmf n j); first by rewrite big_add1.
by rewrite big_nat_recr //= pmf_big // addr0.
Qed.

Lemma more_atE n h s : (h <= n)%N -> more_at n h s = \sum_(h <= j < n.+1) (pmf n j - s * pmf n j.+1).
Proof. by move=> hn; rewrite /more_at sumrB -mulr_sumr shift // [\sum_(h <= j < n.+1) _]big_ltn //; ring. Qed.

Lemma fewer_atE n h s : fewer_at n h s = \sum_(0 <= j < h.+1) pmf n j - s * \sum_(0 <= j < h) pmf n j.
Proof. by rewrite /fewer_at big_nat_recr //=; ring. Qed.

Lemma more_ge0 n h s : 0 <= more n h s. Proof. by apply: sumr_ge0 => j _; exact: pos_ge0. Qed.
Lemma fewer_ge0 n h s : 0 <= fewer n h s.
Proof. by rewrite addr_ge0 ?pos_ge0 // sumr_ge0 // => j _; exact: pos_ge0. Qed.

(* One more coin on both sides: without a threshold a divergence does not grow with n. *)
Lemma more_decr n s : 0 <= s -> more n.+1 0 s <= more n 0 s.
Proof.
move=> s0; rewrite /more big_nat_recl //.
have first : pos (pmf n.+1 0 - s * pmf n.+1 1) <= (1 - p) * pos (pmf n 0 - s * pmf n 1).
  rewrite -posM ?q_ge0 ?p_ge0 //; apply: pos_mono; rewrite pmf0 pmfS.
  by apply: (@le_diff _ _ _ (s * p * pmf n 0)); [exact: mulr_ge0 (mulr_ge0 s0 p_ge0) (pmf_ge0 n 0) | ring].
have rest : \sum_(0 <= i < n.+1) pos (pmf n.+1 i.+1 - s * pmf n.+1 i.+2) <=
    \sum_(0 <= i < n.+1) (p * pos (pmf n i - s * pmf n i.+1) + (1 - p) * pos (pmf n i.+1 - s * pmf n i.+2)).
  apply: ler_sum => i _; rewrite -!posM ?q_ge0 ?p_ge0 //; apply: le_trans (posD _ _); apply: pos_mono.
  by rewrite !pmfS le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: le_trans (ler_add first rest) _; rewrite big_split /= -!mulr_sumr.
rewrite addrCA -mulrDr -(@big_nat_recl _ _ _ n.+1 0 (fun i => pos (pmf n i - s * pmf n i.+1))) //.
rewrite [X in _ + (1 - p) * X]big_nat_recr //= !pmf_big // mulr0 subr0 pos0 addr0.
by rewrite -mulrDl addrC subrK mul1r.
Qed.

Lemma fewer0 n s : fewer n 0 s = pmf n 0 + \sum_(0 <= j < n) pos (pmf n j.+1 - s * pmf n j).
Proof. by rewrite /fewer big_nat1 big_geq // mulr0 subr0 pos_id // pmf_ge0. Qed.

Lemma down_shift n s : 0 <= s -> \sum_(0 <= i < n) pos (pmf n i.+2 - s * pmf n i.+1) =
  \sum_(0 <= i < n) pos (pmf n i.+1 - s * pmf n i) - pos (pmf n 1 - s * pmf n 0).
Proof.
move=> s0; have last : pos (pmf n n.+1 - s * pmf n n) = 0.
  by rewrite pmf_big // sub0r pos_eq0 // oppr_le0 mulr_ge0 // pmf_ge0.
case: n last => [|n] last; first by rewrite !big_geq // last subr0.
by rewrite [in RHS]big_nat_recl // [X in X - _]addrC addrK big_nat_recr //= last addr0.
Qed.

Lemma fewer_decr n s : 0 <= s -> fewer n.+1 0 s <= fewer n 0 s.
Proof.
move=> s0; rewrite !fewer0 big_nat_recl // pmf0.
have first : pos (pmf n.+1 1 - s * ((1 - p) * pmf n 0)) <= p * pmf n 0 + (1 - p) * pos (pmf n 1 - s * pmf n 0).
  rewrite -posM ?q_ge0 ?p_ge0 // -[p * pmf n 0]pos_id; last exact: mulr_ge0 p_ge0 (pmf_ge0 n 0).
  by apply: le_trans (posD _ _); apply: pos_mono; rewrite pmfS le_eqVlt; apply/orP; left; apply/eqP; ring.
have rest : \sum_(0 <= i < n) pos (pmf n.+1 i.+2 - s * pmf n.+1 i.+1) <=
    \sum_(0 <= i < n) (p * pos (pmf n i.+1 - s * pmf n i) + (1 - p) * pos (pmf n i.+2 - s * pmf n i.+1)).
  apply: ler_sum => i _; rewrite -!posM ?q_ge0 ?p_ge0 //; apply: le_trans (posD _ _); apply: pos_mono.
  by rewrite !pmfS le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: le_trans (ler_add (lexx _) (ler_add first rest)) _; rewrite big_split /= -!mulr_sumr.
rewrite down_shift // le_eqVlt; apply/orP; left; apply/eqP.
by move: (\sum_(0 <= i < n) pos (pmf n i.+1 - s * pmf n i)) (pos (pmf n 1 - s * pmf n 0)) => x y; ring.
Qed.

Lemma decr_le (F : nat -> R) : (forall n, F n.+1 <= F n) -> forall n m, (n <= m)%N -> F m <= F n.
Proof. by move=> h n m /subnK <-; elim: (m - n)%N => // d IH; apply: le_trans (h _) IH. Qed.

(* n0 is the peak of [more]: the first n, h at least, with s p (n - h + 1) >= h (1 - p). *)
Definition more_peak h s n0 := [/\ (h <= n0)%N, h%:R * (1 - p) <= s * (n0 - h).+1%:R * p
  & n0 = h \/ s * (n0 - h)%:R * p < h%:R * (1 - p)].

(* n0 is the peak of [fewer]: the first n, h at least, with p (n - h + 1) >= s h (1 - p). *)
Definition fewer_peak h s n0 := [/\ (h <= n0)%N, s * h%:R * (1 - p) <= (n0 - h).+1%:R * p
  & n0 = h \/ (n0 - h)%:R * p < s * h%:R * (1 - p)].

Lemma tail_step n h : (h <= n)%N ->
  \sum_(h.+1 <= j < n.+2) pmf n.+1 j = p * pmf n h + \sum_(h.+1 <= j < n.+1) pmf n j.
Proof.
move=> hn; rewrite big_add1 /= (eq_bigr _ (fun i _ => pmfS n i)) big_split /= -!mulr_sumr.
by rewrite shift // big_ltn //; move: (\sum_(h.+1 <= j < n.+1) pmf n j) => x; ring.
Qed.

Lemma incr_le (F : nat -> R) h n0 : (forall m, (h <= m)%N -> (m < n0)%N -> F m <= F m.+1) ->
  forall n, (h <= n)%N -> (n <= n0)%N -> F n <= F n0.
Proof.
move=> step n hn nn0; rewrite -(subnKC nn0).
have : (n + (n0 - n) <= n0)%N by lia.
elim: (n0 - n)%N => [|d IH] le; first by rewrite addn0.
by rewrite addnS; apply: le_trans (IH _) (step _ _ _); lia.
Qed.

Theorem more_worst h s n0 : 1 <= s -> more_peak h s n0 -> forall n, more n h s <= more_at n0 h s.
Proof.
move=> s1 [hn0 A B] n; have s0 : 0 <= s by apply: le_trans s1; exact: ler01.
have at0 : more n0 0 s = more_at n0 h s.
  rewrite more_atE // /more (@big_cat_nat _ _ _ h) //= ?(leqW hn0) // big_nat_cond big1 ?add0r => [|j].
    apply: eq_big_nat => j /andP[hj jn]; rewrite pos_id // subr_ge0; apply: up_ge0.
    case: B => [->|/ltW B]; first by rewrite (_ : (h - j = 0)%N) ?mulr0 ?mul0r ?(ltW (step_gt0 j)) //; lia.
    apply: le_trans (le_trans B _); last by rewrite ler_wpmul2r ?q_ge0 ?p_ge0 // ler_nat; lia.
    by rewrite ler_wpmul2r ?q_ge0 ?p_ge0 // ler_wpmul2l // ler_nat; lia.
  move=> /andP[/andP[_ jh] _]; rewrite pos_eq0 // subr_le0; apply: up_le0.
  apply: le_trans (le_trans A _); first by rewrite ler_wpmul2r ?q_ge0 ?p_ge0 // ler_nat.
  by rewrite ler_wpmul2r ?q_ge0 ?p_ge0 // ler_wpmul2l // ler_nat; lia.
have at_ge0 : 0 <= more_at n0 h s by rewrite -at0 more_ge0.
case: (ltnP n h) => nh; first by rewrite /more big_geq.
case: (leqP n0 n) => nn0.
  rewrite -at0; apply: le_trans (decr_le (fun n => more_decr n s0) nn0).
  rewrite /more [X in _ <= X](@big_cat_nat _ _ _ h) //= ?(leqW nh) // ler_addr.
  by apply: sumr_ge0 => j _; exact: pos_ge0.
case: B => [eq|B]; first by move: nn0; rewrite eq ltnNge nh.
have pos_terms m j : (h <= m)%N -> (m < n0)%N -> (h <= j.+1)%N -> s * pmf m j.+1 <= pmf m j.
  move=> hm mn hj; apply: up_ge0; apply: le_trans (le_trans (ltW B) _); last by rewrite ler_wpmul2r ?q_ge0 ?p_ge0 // ler_nat.
  by rewrite ler_wpmul2r ?q_ge0 ?p_ge0 // ler_wpmul2l // ler_nat; lia.
have -> : more n h s = more_at n h s.
  rewrite more_atE //; apply: eq_big_nat => j /andP[hj _]; rewrite pos_id // subr_ge0 pos_terms //; lia.
have incr m : (h <= m)%N -> (m < n0)%N -> more_at m h s <= more_at m.+1 h s.
  move=> hm mn; rewrite /more_at tail_step //.
  case: h B pos_terms hm {hn0 A at0 at_ge0 nh} => [|g] B pt hm.
    by move: B; rewrite mul0r ltNge !mulr_ge0 // ?ler0n ?q_ge0 ?p_ge0.
  apply: (@le_diff _ _ _ (p * (pmf m g - s * pmf m g.+1))); last by rewrite pmfS; ring.
  by rewrite mulr_ge0 ?q_ge0 ?p_ge0 // subr_ge0 pt.
exact: (incr_le incr nh (ltnW nn0)).
Qed.

Lemma head_step n h : \sum_(0 <= j < h.+1) pmf n.+1 j = \sum_(0 <= j < h.+1) pmf n j - p * pmf n h.
Proof.
elim: h => [|h IH]; first by rewrite !big_nat1 pmf0; ring.
rewrite big_nat_recr //= IH [in RHS]big_nat_recr //= pmfS.
by move: (\sum_(0 <= j < h.+1) pmf n j) => x; ring.
Qed.

Theorem fewer_worst h s n0 : 1 <= s -> fewer_peak h s n0 -> forall n, fewer n h s <= fewer_at n0 h s.
Proof.
move=> s1 [hn0 A B] n; have s0 : 0 <= s by apply: le_trans s1; exact: ler01.
have terms m : \sum_(0 <= j < h.+1) pmf m j - s * (\sum_(0 <= j < h) pmf m j) =
    pmf m 0 + \sum_(0 <= j < h) (pmf m j.+1 - s * pmf m j).
  by rewrite sumrB -mulr_sumr big_nat_recl // addrA.
have at0 : fewer n0 0 s = fewer_at n0 h s.
  rewrite fewer_atE terms fewer0 (@big_cat_nat _ _ _ h) //=; congr (_ + _).
  rewrite [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0 => [|j].
    apply: eq_big_nat => j /andP[_ jh]; rewrite pos_id // subr_ge0; apply: down_ge0.
    apply: le_trans (le_trans A _); last by rewrite ler_wpmul2r ?p_ge0 // ler_nat; lia.
    by rewrite ler_wpmul2r ?q_ge0 // ler_wpmul2l // ler_nat.
  move=> /andP[/andP[hj jn] _]; rewrite pos_eq0 // subr_le0; apply: down_le0.
  case: B => [eq|/ltW B]; first by move: jn; rewrite eq ltnNge hj.
  apply: le_trans (le_trans B _); first by rewrite ler_wpmul2r ?p_ge0 // ler_nat; lia.
  by rewrite ler_wpmul2r ?q_ge0 // ler_wpmul2l // ler_nat; lia.
have at_ge0 : 0 <= fewer_at n0 h s by rewrite -at0 fewer_ge0.
have bound m : pos (fewer_at m h s) <= fewer_at n0 h s -> (forall j, (h <= j)%N -> pmf m j.+1 <= s * pmf m j) ->
    fewer m h s <= fewer_at n0 h s.
  move=> le neg; rewrite /fewer -fewer_atE big_nat_cond big1 ?addr0 // => j /andP[/andP[hj _] _].
  by rewrite pos_eq0 // subr_le0 neg.
case: (leqP n0 n) => nn0.
  rewrite -at0; apply: le_trans (decr_le (fun n => fewer_decr n s0) nn0).
  rewrite fewer0 /fewer terms (@big_cat_nat _ _ _ h 0 n) //=; last exact: leq_trans nn0.
  rewrite addrA ler_add2r; apply: pos_le.
    by apply: addr_ge0; [exact: pmf_ge0 | apply: sumr_ge0 => j _; exact: pos_ge0].
  by rewrite ler_add2l; apply: ler_sum => j _; exact: le_pos.
have small m : (m < h)%N -> fewer_at m h s <= 0.
  move=> mh; rewrite /fewer_at pmf_big // sub0r oppr_le0 mulr_ge0 ?subr_ge0 //.
  by apply: sumr_ge0 => j _; exact: pmf_ge0.
case: (ltnP n h) => nh.
  apply: bound => [|j hj]; first by rewrite pos_eq0 ?small.
  by rewrite [pmf n j.+1]pmf_big; [exact: mulr_ge0 s0 (pmf_ge0 n j) | lia].
case: B => [eq|B]; first by move: nn0; rewrite eq ltnNge nh.
have neg m j : (h <= m)%N -> (m < n0)%N -> (h <= j.+1)%N -> pmf m j.+1 <= s * pmf m j.
  move=> hm mn hj; apply: down_le0; apply: le_trans (le_trans (ltW B) _).
    by rewrite ler_wpmul2r ?p_ge0 // ler_nat; lia.
  by rewrite ler_wpmul2r ?q_ge0 // ler_wpmul2l // ler_nat.
have incr m : (h <= m)%N -> (m < n0)%N -> fewer_at m h s <= fewer_at m.+1 h s.
  move=> hm mn; case: h B neg hm {hn0 A at0 at_ge0 nh terms bound small} => [|g] B neg hm.
    by move: B; rewrite !(mulr0, mul0r) ltNge !mulr_ge0 // ?ler0n ?p_ge0.
  rewrite /fewer_at head_step pmfS.
  apply: (@le_diff _ _ _ (p * (s * pmf m g - pmf m g.+1))).
    by rewrite mulr_ge0 ?p_ge0 // subr_ge0 neg.
  by move: (\sum_(0 <= j < g.+1) pmf m j) => x; ring.
apply: bound => [|j hj]; last by apply: neg => //; lia.
by apply: pos_le => //; exact: (incr_le incr nh (ltnW nn0)).
Qed.

(* Nothing is suppressed where a crowd of one is enough: what sampling alone leaves. *)
Lemma more_le1 n h s : 0 <= s -> more n h s <= 1.
Proof.
move=> s0; apply: (@le_trans _ _ (\sum_(0 <= j < n.+1) pmf n j)); last by rewrite big_mkord pmf_total.
case: (leqP h n.+1) => hn; last by rewrite /more big_geq ?sumr_ge0 // ?(ltnW hn) // => j _; exact: pmf_ge0.
rewrite [X in _ <= X](@big_cat_nat _ _ _ h) //= ler_paddl //; first by apply: sumr_ge0 => j _; exact: pmf_ge0.
apply: ler_sum => j _; apply: pos_le; first exact: pmf_ge0.
by rewrite ler_subl_addr ler_addl mulr_ge0 // pmf_ge0.
Qed.

End Binomial.
