(* The linear program behind sampled crowds: what an event may tell of one person, given the probabilities of the event
   with m sampled members of the crowd, with the person (a) and without (b). *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey binomial.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma sum_le0 (R : realFieldType) (J : Type) (r : seq J) (P : pred J) (F : J -> R) :
  (forall i, P i -> F i <= 0) -> \sum_(i <- r | P i) F i <= 0.
Proof. by move=> h; rewrite -oppr_ge0 -sumrN; apply: sumr_ge0 => i /h; rewrite oppr_ge0. Qed.

Section Corners.
Variables (R : realFieldType) (B : R).
Hypothesis B_ge1 : 1 <= B.

Lemma B_gt0 : 0 < B. Proof. exact: lt_le_trans ltr01 B_ge1. Qed.
Lemma B_ge0 : 0 <= B. Proof. exact: ltW B_gt0. Qed.
Lemma B1_gt0 : 0 < 1 + B. Proof. exact: addr_gt0 ltr01 B_gt0. Qed.

(* y is as large as a probability must be that is close to x, for the event and for its complement. *)
Definition reaches (x y : R) := x <= B * y /\ 1 - y <= B * (1 - x).

Definition near (x : R) : R := Num.min 1 (x * (1 + B) / B).
Definition far (x : R) : R := pos (x * (1 + B) - B).

Lemma cornersE x : B * near x + far x = (1 + B) * x.
Proof.
rewrite /near /far; case: (leP 1 (x * (1 + B) / B)) => h.
  rewrite ler_pdivl_mulr ?B_gt0 // mul1r in h.
  by rewrite pos_id ?subr_ge0 //; ring.
rewrite ltr_pdivr_mulr ?B_gt0 // mul1r in h.
rewrite pos_eq0 ?subr_le0 ?(ltW h) // addr0; field; by rewrite gt_eqF ?B_gt0.
Qed.

Lemma near_01 x : 0 <= x -> 0 <= near x <= 1.
Proof.
move=> x0; rewrite /near le_minr ler01 /= le_minl lexx andbT.
by rewrite divr_ge0 ?mulr_ge0 ?(ltW B1_gt0) ?B_ge0.
Qed.

Lemma far_01 x : x <= 1 -> 0 <= far x <= 1.
Proof.
move=> x1; rewrite /far pos_ge0 /=; apply: pos_le => //.
apply: (@le_diff _ _ _ ((1 - x) * (1 + B))); last by ring.
by rewrite mulr_ge0 ?subr_ge0 // ltW ?B1_gt0.
Qed.

Lemma near_mono x y : x <= y -> near x <= near y.
Proof.
move=> xy; rewrite /near le_minr !le_minl lexx /=; apply/orP; right.
by rewrite ler_wpmul2r ?invr_ge0 ?B_ge0 // ler_wpmul2r // ltW ?B1_gt0.
Qed.

Lemma far_mono x y : x <= y -> far x <= far y.
Proof. by move=> xy; apply: pos_mono; rewrite ler_add2r ler_wpmul2r // ltW ?B1_gt0. Qed.

Lemma corners_reach x y : reaches x y -> near x + B * far x <= (1 + B) * y.
Proof.
move=> [h1 h2]; rewrite /near /far; case: (leP 1 (x * (1 + B) / B)) => h.
  rewrite ler_pdivl_mulr ?B_gt0 // mul1r in h; rewrite pos_id ?subr_ge0 //.
  apply: (@le_diff _ _ _ ((1 + B) * (B * (1 - x) - (1 - y)))); last by ring.
  by rewrite mulr_ge0 ?subr_ge0 // ltW ?B1_gt0.
rewrite ltr_pdivr_mulr ?B_gt0 // mul1r in h; rewrite pos_eq0 ?subr_le0 ?(ltW h) // mulr0 addr0.
rewrite ler_pdivr_mulr ?B_gt0 //.
apply: (@le_diff _ _ _ ((1 + B) * (B * y - x))); last by ring.
by rewrite mulr_ge0 ?subr_ge0 // ltW ?B1_gt0.
Qed.

End Corners.

Section Program.
Variables (R : realFieldType) (p B : R).
Hypotheses (p_gt0 : 0 < p) (p_lt1 : p < 1) (B_ge1 : 1 <= B).
Variables (n h : nat) (s : R).
Hypothesis s_ge : B <= s.
Local Notation f := (pmf p n).

Local Lemma f_ge0 m : 0 <= f m. Proof. exact: pmf_ge0. Qed.
Local Lemma s_ge0 : 0 <= s. Proof. exact: le_trans (B_ge0 B_ge1) s_ge. Qed.

(* The two corners of the program, at the factors s / B and s B, with the weights B and 1. *)
Definition corners (g : R -> R) : R := (B * g (s / B) + g (s * B)) / (1 + B).

Lemma corners_ge0 g : (forall x, 0 <= g x) -> 0 <= corners g.
Proof.
move=> g0; apply: divr_ge0; last exact: ltW (B1_gt0 B_ge1).
exact: addr_ge0 (mulr_ge0 (B_ge0 B_ge1) (g0 _)) (g0 _).
Qed.

Lemma le_corners g x : (1 + B) * x <= B * g (s / B) + g (s * B) -> x <= corners g.
Proof. by move=> le; rewrite /corners ler_pdivl_mulr ?(B1_gt0 B_ge1) // mulrC. Qed.

Lemma corner_up F G x y : 0 <= F -> 0 <= G -> 0 <= x <= 1 -> (G = 0 \/ reaches B x y) ->
  (1 + B) * (F * x - s * (G * y)) <= B * pos (F - s / B * G) + pos (F - s * B * G).
Proof.
move=> F0 G0 /andP[x0 x1] hy; have /andP[n0 n1] := near_01 B_ge1 x0; have /andP[f0 f1] := far_01 B_ge1 x1.
have cost : s * G * (near B x + B * far B x) <= s * G * ((1 + B) * y).
  case: hy => [->|hy]; first by rewrite !mulr0 !mul0r.
  by rewrite ler_wpmul2l ?mulr_ge0 ?s_ge0 //; exact: corners_reach.
have h1 : near B x * (B * (F - s / B * G)) <= B * pos (F - s / B * G).
  rewrite mulrCA ler_wpmul2l ?(B_ge0 B_ge1) //.
  apply: le_trans (ler_wpmul2l n0 (le_pos _)) _; by rewrite ler_pimull ?pos_ge0.
have h2 : far B x * (F - s * B * G) <= pos (F - s * B * G).
  apply: le_trans (ler_wpmul2l f0 (le_pos _)) _; by rewrite ler_pimull ?pos_ge0.
apply: le_trans (ler_add h1 h2).
apply: (@le_diff _ _ _ (s * G * ((1 + B) * y) - s * G * (near B x + B * far B x))); first by rewrite subr_ge0.
have e := cornersE B_ge1 x; have -> : (1 + B) * (F * x - s * (G * y)) = F * (B * near B x + far B x) - s * G * ((1 + B) * y).
  by rewrite e; ring.
by field; rewrite gt_eqF ?(B_gt0 B_ge1).
Qed.

Variables (a b : nat -> R).
Hypotheses (a_01 : forall m, 0 <= a m <= 1) (b_01 : forall m, 0 <= b m <= 1).

Theorem program_up :
  (forall m, (m < n)%N -> reaches B (a m) (b m.+1)) ->
  (forall m, (m < h)%N -> (m <= n)%N -> a m <= B * b m) ->
  \sum_(0 <= m < n.+1) f m * (a m - s * b m) <= corners (more p n h).
Proof.
move=> H1 H2.
have b0 m : 0 <= b m by case/andP: (b_01 m).
have lows l : (l <= n.+1)%N -> (l <= h)%N -> \sum_(0 <= m < l) f m * (a m - s * b m) <= 0.
  move=> ln lh; rewrite big_nat_cond; apply: sum_le0 => m /andP[/andP[_ ml] _].
  rewrite mulr_ge0_le0 ?f_ge0 // subr_le0; apply: le_trans (H2 m _ _) _; try lia.
  by rewrite ler_wpmul2r.
case: (leqP h n) => hn; last first.
  by apply: le_trans (lows n.+1 _ _) _; rewrite ?corners_ge0 // => x; exact: more_ge0.
rewrite (@big_cat_nat _ _ _ h) //= ?(leqW hn) //; apply: ler_naddl; first by apply: lows => //; exact: leqW.
apply: (@le_trans _ _ (\sum_(h <= m < n.+1) (f m * a m - s * (f m.+1 * b m.+1)))).
  have -> : \sum_(h <= m < n.+1) f m * (a m - s * b m) = \sum_(h <= m < n.+1) f m * a m - s * \sum_(h <= m < n.+1) f m * b m.
    by rewrite mulr_sumr -sumrB; apply: eq_bigr => m _; ring.
  rewrite sumrB -mulr_sumr ler_add2l ler_opp2 ler_wpmul2l ?s_ge0 //.
  rewrite -(@big_add1 _ _ _ h n.+2 xpredT (fun m => f m * b m)) big_nat_recr //= pmf_big // mul0r addr0.
  by rewrite [X in _ <= X]big_ltn // ler_addr mulr_ge0 ?f_ge0.
apply: le_corners; rewrite /more !mulr_sumr -big_split /= big_nat_cond [X in _ <= X]big_nat_cond.
apply: ler_sum => m /andP[/andP[hm mn] _]; apply: corner_up; rewrite ?f_ge0 ?a_01 //.
case: (ltnP m n) => mn'; [right; exact: H1 | left; rewrite pmf_big //].
Qed.

(* Downward: one corner at a time, for any u between 0 and 1. *)
Local Lemma sums_sign K (r : R) : 1 <= r -> \sum_(0 <= m < K.+1) f m - r * (\sum_(0 <= m < K) f m) < 0 -> f K.+1 <= r * f K.
Proof.
move=> r1; have r0 : 0 <= r by apply: le_trans r1; exact: ler01.
apply: contraTT; rewrite -ltNge -leNgt => h'.
have e : r * K.+1%:R * (1 - p) <= (n - K)%:R * p.
  by rewrite leNgt; apply/negP => /ltW /(down_le0 p_gt0 p_lt1); rewrite leNgt h'.
rewrite big_nat_recl // mulr_sumr -addrA -sumrB addr_ge0 ?f_ge0 // big_nat_cond.
apply: sumr_ge0 => m /andP[/andP[_ mK] _]; rewrite subr_ge0; apply: down_ge0 => //.
have q0 : 0 <= 1 - p by rewrite subr_ge0 ltW.
apply: le_trans (le_trans e _); first by rewrite ler_wpmul2r // ler_wpmul2l // ler_nat; lia.
by rewrite ler_wpmul2r ?(ltW p_gt0) // ler_nat; lia.
Qed.

Local Lemma head_program (u : nat -> R) (r : R) K : 1 <= r -> (forall m, 0 <= u m <= 1) ->
  \sum_(0 <= m < K.+1) f m * u m - r * (\sum_(0 <= m < K) f m * Num.max (u m) (u m.+1)) <=
  u K * pos (\sum_(0 <= m < K.+1) f m - r * (\sum_(0 <= m < K) f m)).
Proof.
move=> r1 u01; elim: K => [|K IH].
  by rewrite !big_nat1 !big_geq // mulr0 !subr0 pos_id ?f_ge0 // mulrC.
have [/andP[u0 _] /andP[u0' _]] := (u01 K, u01 K.+1).
have sign := sums_sign (K := K) r1.
set T := \sum_(0 <= m < K.+1) f m - r * \sum_(0 <= m < K) f m in IH sign *.
have TS : \sum_(0 <= m < K.+2) f m - r * (\sum_(0 <= m < K.+1) f m) = T + (f K.+1 - r * f K).
  rewrite /T big_nat_recr //= [\sum_(0 <= m < K.+1) f m]big_nat_recr //=.
  by move: (\sum_(0 <= i < K) f i) => x; ring.
have posT : pos T + (f K.+1 - r * f K) <= pos (T + (f K.+1 - r * f K)).
  case: (leP 0 T) => T0; first by rewrite (pos_id T0) le_pos.
  rewrite (pos_eq0 (ltW T0)) add0r; apply: le_trans (pos_ge0 _); rewrite subr_le0; exact: sign.
have Tf : pos T <= r * f K.
  apply: pos_le; first by rewrite mulr_ge0 ?f_ge0 //; apply: le_trans r1; exact: ler01.
  apply: (@le_trans _ _ (f K)); last by rewrite ler_pemull ?f_ge0.
  rewrite /T big_nat_recr //= -[X in _ - X]mul1r; apply: (@le_diff _ _ _ ((r - 1) * (\sum_(0 <= m < K) f m))).
    by rewrite mulr_ge0 ?subr_ge0 // sumr_ge0 // => m _; exact: f_ge0.
  by move: (\sum_(0 <= i < K) f i) => x; ring.
rewrite big_nat_recr //= [\sum_(0 <= m < K.+1) f m * Num.max _ _]big_nat_recr //= TS.
have step : \sum_(0 <= m < K.+1) f m * u m + f K.+1 * u K.+1 -
    r * (\sum_(0 <= m < K) f m * Num.max (u m) (u m.+1) + f K * Num.max (u K) (u K.+1)) <=
    u K * pos T + f K.+1 * u K.+1 - r * f K * Num.max (u K) (u K.+1).
  apply: (@le_diff _ _ _ (u K * pos T - (\sum_(0 <= m < K.+1) f m * u m - r * (\sum_(0 <= m < K) f m * Num.max (u m) (u m.+1))))).
    by rewrite subr_ge0.
  by move: (\sum_(0 <= m < K.+1) f m * u m) (\sum_(0 <= m < K) f m * Num.max (u m) (u m.+1)) => x y; ring.
apply: le_trans step _; apply: (@le_trans _ _ (u K.+1 * (pos T + (f K.+1 - r * f K)))); last by rewrite ler_wpmul2l.
case: (leP (u K) (u K.+1)) => uu.
  apply: (@le_diff _ _ _ ((u K.+1 - u K) * pos T)); last by ring.
  by rewrite mulr_ge0 ?subr_ge0 ?pos_ge0.
apply: (@le_diff _ _ _ ((u K - u K.+1) * (r * f K - pos T))); last by ring.
by rewrite mulr_ge0 ?subr_ge0 // ltW.
Qed.

Local Lemma program_one (u : nat -> R) (r : R) : 1 <= r -> (forall m, 0 <= u m <= 1) ->
  \sum_(0 <= m < n.+1) f m * u m - r * (\sum_(0 <= m < n.+1) f m * (if (m < h)%N then Num.max (u m) (u m.+1) else u m.+1))
  <= fewer p n h r.
Proof.
move=> r1 u01; have r0 : 0 <= r by apply: le_trans r1; exact: ler01.
have u0 m : 0 <= u m by case/andP: (u01 m).
case: (leqP h n) => hn; last first.
  apply: le_trans (fewer_ge0 p n h r); rewrite subr_le0 mulr_sumr big_nat_cond [X in _ <= X]big_nat_cond.
  apply: ler_sum => m /andP[/andP[_ mn] _]; rewrite (leq_trans mn) // mulrCA ler_wpmul2l ?f_ge0 //.
  apply: (@le_trans _ _ (Num.max (u m) (u m.+1))); first by rewrite le_maxr lexx.
  by rewrite ler_pemull // le_maxr u0.
rewrite /fewer; have := head_program h r1 u01.
set T := \sum_(0 <= m < h.+1) f m - r * (\sum_(0 <= m < h) f m) => head.
have headT : u h * pos T <= pos T by rewrite ler_pimull ?pos_ge0 //; case/andP: (u01 h).
have tail : \sum_(h.+1 <= m < n.+1) f m * u m - r * (\sum_(h <= m < n) f m * u m.+1) <= \sum_(h <= j < n) pos (f j.+1 - r * f j).
  rewrite big_add1 /= mulr_sumr -sumrB; apply: ler_sum => m _.
  apply: (@le_trans _ _ (u m.+1 * pos (f m.+1 - r * f m))); last by rewrite ler_pimull ?pos_ge0 //; case/andP: (u01 m.+1).
  by apply: le_trans (ler_wpmul2l (u0 _) (le_pos _)); rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: le_trans (ler_add (le_trans head headT) tail).
rewrite (@big_cat_nat _ _ _ h.+1 0 n.+1) //= [X in _ - r * X](@big_cat_nat _ _ _ h 0 n.+1) //= ?(leqW hn) //.
have -> : \sum_(0 <= m < h) f m * (if (m < h)%N then Num.max (u m) (u m.+1) else u m.+1) =
    \sum_(0 <= m < h) f m * Num.max (u m) (u m.+1) by apply: eq_big_nat => m /andP[_ ->].
have -> : \sum_(h <= m < n.+1) f m * (if (m < h)%N then Num.max (u m) (u m.+1) else u m.+1) =
    \sum_(h <= m < n.+1) f m * u m.+1 by apply: eq_big_nat => m /andP[hm _]; rewrite ltnNge hm.
rewrite [\sum_(h <= m < n.+1) f m * u m.+1]big_nat_recr //=.
apply: (@le_diff _ _ _ (r * (f n * u n.+1))); first exact: mulr_ge0 r0 (mulr_ge0 (f_ge0 n) (u0 n.+1)).
move: (\sum_(0 <= i < h.+1) f i * u i) (\sum_(h.+1 <= i < n.+1) f i * u i) => x1 x2.
move: (\sum_(0 <= m < h) f m * Num.max (u m) (u m.+1)) (\sum_(h <= i < n) f i * u i.+1) => x3 x4; ring.
Qed.

Theorem program_down :
  (forall m, (m <= n)%N -> reaches B (b m.+1) (a m)) ->
  (forall m, (m < h)%N -> (m <= n)%N -> reaches B (b m) (a m)) ->
  \sum_(0 <= m < n.+1) f m * (b m - s * a m) <= corners (fewer p n h).
Proof.
move=> H1 H2; apply: le_corners.
pose u m := near B (b m); pose v m := far B (b m).
have u01 m : 0 <= u m <= 1 by apply: near_01 => //; case/andP: (b_01 m).
have v01 m : 0 <= v m <= 1 by apply: far_01 => //; case/andP: (b_01 m).
have s1 : 1 <= s / B by rewrite ler_pdivl_mulr ?mul1r // B_gt0.
have s2 : 1 <= s * B by rewrite (le_trans B_ge1) // (le_trans s_ge) // ler_pemulr ?s_ge0.
have B0 := B_ge0 B_ge1.
apply: le_trans (ler_add (ler_wpmul2l B0 (program_one s1 u01)) (program_one s2 v01)).
set mu := fun m => if (m < h)%N then Num.max (u m) (u m.+1) else u m.+1.
set mv := fun m => if (m < h)%N then Num.max (v m) (v m.+1) else v m.+1.
have cost m : (m <= n)%N -> mu m + B * mv m <= (1 + B) * a m.
  move=> mn; rewrite /mu /mv; have h1 := corners_reach B_ge1 (H1 m mn); case: (ltnP m h) => mh //.
  have h2 := corners_reach B_ge1 (H2 m mh mn); case: (leP (b m) (b m.+1)) => bb.
    by rewrite (max_r (near_mono B_ge1 bb)) (max_r (far_mono B_ge1 bb)).
  by rewrite (max_l (near_mono B_ge1 (ltW bb))) (max_l (far_mono B_ge1 (ltW bb))).
apply: (@le_trans _ _ (\sum_(0 <= m < n.+1) (f m * (B * u m + v m) - s * (f m * (mu m + B * mv m))))).
  rewrite mulr_sumr big_nat_cond [X in _ <= X]big_nat_cond; apply: ler_sum => m /andP[/andP[_ mn] _].
  rewrite /u /v cornersE //.
  apply: (@le_diff _ _ _ (s * f m * ((1 + B) * a m - (mu m + B * mv m)))); last by ring.
  by apply: mulr_ge0; [exact: mulr_ge0 s_ge0 (f_ge0 m) | rewrite subr_ge0; exact: cost].
rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite !mulr_sumr -!sumrB !mulr_sumr -big_split /=; apply: eq_bigr => m _; rewrite -/(mu m) -/(mv m).
move: (f m) (u m) (v m) (mu m) (mv m) => x x1 x2 x3 x4.
by field; rewrite gt_eqF ?(B_gt0 B_ge1).
Qed.

End Program.
