(* The explicit form of CBP Theorem 13 (the rule blending.explicit): tails of the number of sampled companions. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tails.
Variables (R : realFieldType) (p : R).
Hypotheses (p_gt0 : 0 < p) (p_lt1 : p < 1).
Implicit Types (n h : nat) (s : R).
Local Notation f := (pmf p).

Local Lemma f0 n j : 0 <= f n j. Proof. exact: pmf_ge0. Qed.
Local Lemma succ (m : nat) : m.+1%:R = m%:R + 1 :> R. Proof. by rewrite -addn1 natrD. Qed.

(* P[X >= h]; P[X + 1 > (n + 1) s p / (1 - p + s p)]; P[X < (n + 1) p / (p + s (1 - p))]. *)
Definition few n h : R := \sum_(h <= j < n.+1) f n j.
Definition many_up n s : R := \sum_(0 <= j < n.+1 | n.+1%:R * (s * p) < j.+1%:R * (1 - p + s * p)) f n j.
Definition many_down n s : R := \sum_(0 <= j < n.+1 | j%:R * (p + s * (1 - p)) < n.+1%:R * p) f n j.

Lemma more_few n h s : 0 <= s -> more p n h s <= few n h.
Proof.
move=> s0; apply: ler_sum => j _; apply: pos_le; first exact: f0.
by rewrite ler_subl_addr ler_addl mulr_ge0 // f0.
Qed.

Lemma more_many n h s : 0 <= s -> more p n h s <= many_up n s.
Proof.
move=> s0; apply: (@le_trans _ _ (more p n 0 s)).
  case: (leqP h n.+1) => hn; last by rewrite {1}/more big_geq ?more_ge0 // ltnW.
  rewrite {2}/more (@big_cat_nat _ _ _ h) //= ler_addr sumr_ge0 // => j _; exact: pos_ge0.
rewrite /many_up [X in _ <= X]big_mkcond /more big_nat_cond [X in _ <= X]big_nat_cond.
apply: ler_sum => j /andP[/andP[_ jn] _]; case: ifP => h'.
  by apply: pos_le; [exact: f0 | rewrite ler_subl_addr ler_addl mulr_ge0 // f0].
rewrite pos_eq0 // subr_le0; apply: up_le0 => //; move/negbT: h'; rewrite -leNgt => h'.
have nj : (n - j)%:R = n%:R - j%:R :> R by rewrite natrB.
rewrite nj; apply: (@le_diff _ _ _ (n.+1%:R * (s * p) - j.+1%:R * (1 - p + s * p))); first by rewrite subr_ge0.
by rewrite !succ; ring.
Qed.

Lemma fewer_few n h s : 1 <= s -> fewer p n h s <= few n h.
Proof.
move=> s1; have s0 : 0 <= s by apply: le_trans s1; exact: ler01.
have T : \sum_(0 <= j < h.+1) f n j - s * (\sum_(0 <= j < h) f n j) <= f n h.
  rewrite -fewer_atE /fewer_at ler_subl_addr ler_addl mulr_ge0 ?subr_ge0 // sumr_ge0 // => j _; exact: f0.
rewrite /fewer /few; case: (leqP h n) => hn; last first.
  rewrite [X in _ + X]big_geq ?(ltnW hn) // [X in _ <= X]big_geq //.
  by rewrite addr0 pos_eq0 // (le_trans T) // pmf_big.
rewrite [X in _ <= X]big_ltn // big_add1 /=; apply: ler_add; first by apply: pos_le => //; exact: f0.
apply: ler_sum => j _; apply: pos_le; first exact: f0.
by rewrite ler_subl_addr ler_addl mulr_ge0 // f0.
Qed.

Lemma fewer_full n h s : 0 <= s -> fewer p n h s <= fewer p n 0 s.
Proof.
move=> s0; rewrite fewer0 // /fewer; have -> : \sum_(0 <= j < h.+1) f n j - s * (\sum_(0 <= j < h) f n j) =
    f n 0 + \sum_(0 <= j < h) (f n j.+1 - s * f n j) by rewrite sumrB -mulr_sumr big_nat_recl // addrA.
have head : pos (f n 0 + \sum_(0 <= j < h) (f n j.+1 - s * f n j)) <= f n 0 + \sum_(0 <= j < h) pos (f n j.+1 - s * f n j).
  apply: pos_le; first by rewrite addr_ge0 ?f0 // sumr_ge0 // => j _; exact: pos_ge0.
  by rewrite ler_add2l; apply: ler_sum => j _; exact: le_pos.
case: (leqP h n) => hn; first by rewrite (@big_cat_nat _ _ _ h 0 n) //= addrA ler_add2r.
rewrite [X in _ + X]big_geq ?(ltnW hn) // addr0; apply: le_trans head _; rewrite ler_add2l.
rewrite (@big_cat_nat _ _ _ n 0 h) //= ?(ltnW hn) // [X in _ + X <= _]big_nat_cond [X in _ + X <= _]big1 ?addr0 //.
move=> j /andP[/andP[nj _] _]; rewrite pos_eq0 // subr_le0 [X in X <= _]pmf_big ?ltnS //.
by rewrite mulr_ge0 // f0.
Qed.

Lemma fewer_many n h s : 0 <= s -> fewer p n h s <= many_down n s.
Proof.
move=> s0; apply: le_trans (fewer_full n h s0) _; rewrite fewer0 // /many_down [X in _ <= X]big_mkcond big_nat_recl //=.
rewrite mul0r mulr_gt0 ?ltr0Sn // ler_add2l big_nat_cond [X in _ <= X]big_nat_cond.
apply: ler_sum => j /andP[/andP[_ jn] _]; case: ifP => h'.
  by apply: pos_le; [exact: f0 | rewrite ler_subl_addr ler_addl mulr_ge0 // f0].
rewrite pos_eq0 // subr_le0; apply: down_le0 => //; move/negbT: h'; rewrite -leNgt => h'.
have nj : (n - j)%:R = n%:R - j%:R :> R by rewrite natrB // ltnW.
rewrite nj; apply: (@le_diff _ _ _ (j.+1%:R * (p + s * (1 - p)) - n.+1%:R * p)); first by rewrite subr_ge0.
by rewrite !succ; ring.
Qed.

Lemma more_antimono n h s s' : s <= s' -> more p n h s' <= more p n h s.
Proof. by move=> ss; apply: ler_sum => j _; apply: pos_mono; rewrite ler_sub // ler_wpmul2r // f0. Qed.

Lemma fewer_antimono n h s s' : s <= s' -> fewer p n h s' <= fewer p n h s.
Proof.
move=> ss; apply: ler_add; last by apply: ler_sum => j _; apply: pos_mono; rewrite ler_sub // ler_wpmul2r // f0.
by apply: pos_mono; rewrite ler_sub // ler_wpmul2r // sumr_ge0 // => j _; exact: f0.
Qed.

End Tails.

Section Explicit.
Variables (R : realFieldType) (I O : finType) (M : {set I} -> O -> R) (B r c : R) (k : nat) (D : {set I}) (t : I).
Hypotheses (HM : mechanism M) (B_ge1 : 1 <= B) (HB : crowd_blending k.+1 B M) (tD : t \in D).
Hypotheses (r_gt0 : 0 < r) (r_lt1 : r < 1) (c_ge : 1 + r * (B - 1) <= c).
Local Notation up := (factor_up r c).
Local Notation down := (factor_down r c).

Local Lemma average_same g : (B * g + g) / (1 + B) = g :> R.
Proof. by rewrite -[X in _ + X]mul1r -mulrDl addrC [(1 + B) * g]mulrC mulfK // gt_eqF // B1_gt0. Qed.

Local Lemma split_le (s : R) : B <= s -> s / B <= s * B.
Proof.
move=> h; have s0 := le_trans (B_ge0 B_ge1) h; apply: (@le_trans _ _ s); last by rewrite ler_pemulr.
by rewrite ler_pdivr_mulr ?B_gt0 // ler_pemulr.
Qed.

Theorem explicit_up g : (forall n, Num.min (many_up r n (up / B)) (few r n k) <= g) ->
  hockey c (released (at_rate r D) M) (released (at_rate r (D :\ t)) M) <= r * g.
Proof.
move=> h; have s_ge := factor_up_ge r_gt0 c_ge; have s0 : 0 <= up / B by rewrite divr_ge0 ?(B_ge0 B_ge1) // (le_trans (B_ge0 B_ge1)).
have le n : more r n k (up / B) <= g by apply: le_trans (h n); rewrite le_minr more_many // more_few.
rewrite -[g]average_same; apply: (@sampled_crowds_up _ _ _ M B r c k D t) => // n.
by apply: le_trans (le n); apply: more_antimono => //; exact: split_le.
Qed.

Theorem explicit_down g : (0 < gain r c -> forall n, Num.min (many_down r n (down / B)) (few r n k) <= g) ->
  hockey c (released (at_rate r (D :\ t)) M) (released (at_rate r D) M) <= pos (gain r c) * g.
Proof.
move=> h; rewrite -[g]average_same; apply: (@sampled_crowds_down _ _ _ M B r c k D t) => // gp.
have s_ge := factor_down_ge r_gt0 (ltW r_lt1) B_ge1 c_ge gp.
have s1 : 1 <= down / B by rewrite ler_pdivl_mulr ?mul1r // B_gt0.
have s0 : 0 <= down / B by apply: le_trans s1; exact: ler01.
have le n : fewer r n k (down / B) <= g by apply: le_trans (h gp n); rewrite le_minr fewer_many // fewer_few.
split=> // n; apply: le_trans (le n); apply: fewer_antimono => //; exact: split_le.
Qed.

End Explicit.
