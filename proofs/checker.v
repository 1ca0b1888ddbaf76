(* From theorem to number: a test in whole numbers which, when passed, proves that a claimed delta holds for every
   mechanism that hides people in crowds of k, on a sample at a rate a/b, at a factor u/v and beyond.
   The rate of a certificate is a double, so it is such a fraction; the factor is one that is at most e^epsilon. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify ssrZ.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling suppression.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(* Only whole numbers from here to [passes]: it is computed. With q = b - a; P[X > j] / P[X = j] and P[X < j] / P[X = j]. *)
Section Computed.
Local Open Scope Z_scope.
Variables (a q : Z) (n : nat).

Fixpoint above (j fuel : nat) : Z * Z := if fuel is f.+1 then
  let: (num, den) := above j.+1 f in (Z.of_nat f.+1 * a * (den + num), Z.of_nat j.+1 * q * den) else (0, 1).
Fixpoint below (j : nat) : Z * Z := if j is i.+1 then
  let: (num, den) := below i in (Z.of_nat j * q * (den + num), Z.of_nat (n - i) * a * den) else (0, 1).
(* P[X = j] / P[X = 0]. *)
Fixpoint mass (j : nat) : Z * Z := if j is i.+1 then
  let: (num, den) := mass i in (Z.of_nat (n - i) * a * num, Z.of_nat j * q * den) else (1, 1).
Fixpoint power (x : Z) (m : nat) : Z := if m is i.+1 then x * power x i else 1.
End Computed.

Section Tests.
Local Open Scope Z_scope.

Definition passes_up (h n : nat) (a b u v dn dd : Z) : bool :=
  let q := b - a in let T := v * a in let S := v * a + (u - v) * b in
  let: (num, den) := above a q h (n - h) in let: (mn, md) := mass a q n h in
  [&& (h <= n)%N, Z.of_nat h * q * T <=? S * Z.of_nat (n - h).+1 * a,
      (n == h) || (S * Z.of_nat (n - h) * a <? Z.of_nat h * q * T)
    & a * (mn * power q n) * (T * den - (S - T) * num) * dd <=? dn * (b * T * den * (md * power b n))].

Definition passes_down (h n : nat) (a b u v dn dd : Z) : bool :=
  let q := b - a in let T := v * b - u * q in let S := u * a in
  if T <=? 0 then 0 <=? dn else
  let: (num, den) := below a q n h in let: (mn, md) := mass a q n h in
  [&& (h <= n)%N, S * Z.of_nat h * q <=? T * Z.of_nat (n - h).+1 * a,
      (n == h) || (Z.of_nat (n - h) * a * T <? S * Z.of_nat h * q)
    & (mn * power q n) * (T * den - (S - T) * num) * dd <=? dn * (v * b * den * (md * power b n))].

(* k = h + 1, the numbers of others at which both directions are worst, the rate a/b, the factor u/v, the delta dn/dd. *)
Definition passes (h up down : nat) (a b u v dn dd : Z) : bool :=
  [&& Z.ltb 0 a, Z.ltb a b, Z.ltb 0 v, Z.leb v u, Z.ltb 0 dd, passes_up h up a b u v dn dd & passes_down h down a b u v dn dd].
End Tests.

Local Open Scope ring_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.
Local Arguments Z.of_nat : simpl never.

Section Sound.
Variable R : realFieldType.

Definition inj (x : Z) : R := (int_of_Z x)%:~R.
Lemma injD x y : inj (Z.add x y) = inj x + inj y. Proof. exact: (Ring_theory.morph_add (Internals.RZ R)). Qed.
Lemma injM x y : inj (Z.mul x y) = inj x * inj y. Proof. exact: (Ring_theory.morph_mul (Internals.RZ R)). Qed.
Lemma injB x y : inj (Z.sub x y) = inj x - inj y. Proof. exact: (Ring_theory.morph_sub (Internals.RZ R)). Qed.
Lemma inj0 : inj Z0 = 0. Proof. by []. Qed.
Lemma inj1 : inj (Zpos 1) = 1. Proof. by []. Qed.
Lemma inj_nat m : inj (Z.of_nat m) = m%:R.
Proof. by rewrite /inj (_ : int_of_Z (Z.of_nat m) = Posz m) //; lia. Qed.
Lemma inj_le x y : Z.leb x y -> inj x <= inj y. Proof. by move=> h; rewrite /inj ler_int; lia. Qed.
Lemma inj_lt x y : Z.ltb x y -> inj x < inj y. Proof. by move=> h; rewrite /inj ltr_int; lia. Qed.
Lemma inj_power x m : inj (power x m) = inj x ^+ m.
Proof. by elim: m => [|m IH] //=; rewrite injM IH exprS. Qed.
Definition injE := (injD, injM, injB, inj_nat, inj_power, inj0, inj1).

Section Fractions.
Variables (a b q : Z).
Hypotheses (a_gt0 : Z.ltb Z0 a) (a_ltb : Z.ltb a b) (qE : q = Z.sub b a).
Local Notation p := (inj a / inj b).

Lemma A0 : 0 < inj a. Proof. exact: inj_lt a_gt0. Qed.
Lemma Q0 : 0 < inj q. Proof. by apply: (@inj_lt Z0); lia. Qed.
Lemma QE : inj q = inj b - inj a. Proof. by rewrite qE injB. Qed.
Lemma B0 : 0 < inj b. Proof. by apply: (@inj_lt Z0); lia. Qed.
Lemma p0 : 0 < p. Proof. by rewrite divr_gt0 ?A0 ?B0. Qed.
Lemma p1 : p < 1. Proof. by rewrite ltr_pdivr_mulr ?B0 // mul1r; exact: inj_lt. Qed.

Local Notation f := (pmf p).

Lemma ratio n j : j.+1%:R * inj q * f n j.+1 = (n - j)%:R * inj a * f n j.
Proof.
have e := pmf_ratio p0 p1 n j; have bn : inj b != 0 by rewrite gt_eqF ?B0.
have -> : j.+1%:R * inj q * f n j.+1 = inj b * (j.+1%:R * (1 - p) * f n j.+1) by rewrite QE; field.
by rewrite e; field.
Qed.

Lemma above_sound n fuel j : (j + fuel = n)%N ->
  0 < inj (above a q j fuel).2 /\
  (\sum_(j.+1 <= i < n.+1) f n i) * inj (above a q j fuel).2 = f n j * inj (above a q j fuel).1.
Proof.
elim: fuel j => [|fu IH] j e /=.
  by rewrite big_geq ?inj1 ?inj0 ?mulr0 ?mul0r ?ltr01 //; rewrite -e addn0.
have [] := IH j.+1; first by rewrite -e addSnnS.
case: (above a q j.+1 fu) => num den /= d0 h; rewrite !(injD, injM, inj_nat); split.
  exact: mulr_gt0 (mulr_gt0 (ltr0Sn _ _) Q0) d0.
have r := ratio n j; have fe : (n - j = fu.+1)%N by lia.
rewrite big_ltn; last by lia.
move: (\sum_(j.+2 <= i < n.+1) f n i) h => x h.
transitivity (j.+1%:R * inj q * (f n j.+1 * inj den + x * inj den)); first by ring.
rewrite h -mulrDr mulrA r fe; ring.
Qed.

Lemma below_sound n j : (j <= n)%N ->
  0 < inj (below a q n j).2 /\ (\sum_(0 <= i < j) f n i) * inj (below a q n j).2 = f n j * inj (below a q n j).1.
Proof.
elim: j => [|j IH] jn /=; first by rewrite big_geq // inj1 inj0 mulr0 mul0r ltr01.
have [] := IH (ltnW jn); case: (below a q n j) => num den /= d0 h; rewrite !(injD, injM, inj_nat); split.
  by apply: mulr_gt0 d0; apply: mulr_gt0 A0; rewrite ltr0n subn_gt0.
have r := ratio n j; rewrite big_nat_recr //=; move: (\sum_(0 <= i < j) f n i) h => x h.
transitivity ((n - j)%:R * inj a * (f n j * inj den + x * inj den)); first by ring.
by rewrite h -mulrDr mulrA -r; ring.
Qed.

Lemma mass_sound n j : (j <= n)%N ->
  0 < inj (mass a q n j).2 /\ f n j * (inj (mass a q n j).2 * inj b ^+ n) = inj (mass a q n j).1 * inj q ^+ n.
Proof.
elim: j => [|j IH] jn /=.
  rewrite inj1 ltr01; split=> //; rewrite /pmf bin0 expr0 subn0 !mul1r -exprMn; congr (_ ^+ n).
  by rewrite QE; field; rewrite gt_eqF ?B0.
have [] := IH (ltnW jn); case: (mass a q n j) => num den /= d0 h; rewrite !(injD, injM, inj_nat); split.
  exact: mulr_gt0 (mulr_gt0 (ltr0Sn _ _) Q0) d0.
have r := ratio n j.
transitivity (j.+1%:R * inj q * f n j.+1 * (inj den * inj b ^+ n)); first by ring.
by rewrite r -mulrA h; ring.
Qed.

Lemma mass_value n h : (h <= n)%N ->
  f n h = inj (mass a q n h).1 * inj q ^+ n / (inj (mass a q n h).2 * inj b ^+ n) /\ 0 < inj (mass a q n h).2 * inj b ^+ n.
Proof.
move=> hn; have [m0 e] := mass_sound hn; have w0 : 0 < inj (mass a q n h).2 * inj b ^+ n by rewrite mulr_gt0 ?exprn_gt0 ?B0.
by split=> //; rewrite -e mulfK // gt_eqF.
Qed.

Variables (u v dn dd : Z).
Hypotheses (v_gt0 : Z.ltb Z0 v) (v_leu : Z.leb v u) (dd_gt0 : Z.ltb Z0 dd).
Local Notation c := (inj u / inj v).
Local Notation delta := (inj dn / inj dd).

Lemma V0 : 0 < inj v. Proof. exact: inj_lt v_gt0. Qed.
Lemma D0 : 0 < inj dd. Proof. exact: inj_lt dd_gt0. Qed.
Lemma VU : inj v <= inj u. Proof. exact: inj_le v_leu. Qed.
Lemma c1 : 1 <= c. Proof. by rewrite ler_pdivl_mulr ?V0 // mul1r VU. Qed.

(* An inequality of fractions, from the one of their numerators. *)
Lemma frac_le (x y z w : R) : 0 < y -> 0 < w -> x * w <= z * y -> x / y <= z / w.
Proof. by move=> y0 w0 h; rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr. Qed.

Lemma up_sound h n (T := Z.mul v a) (S := Z.add (Z.mul v a) (Z.mul (Z.sub u v) b)) :
  (h <= n)%N -> Z.leb (Z.of_nat h * q * T) (S * Z.of_nat (n - h).+1 * a) ->
  (n == h) || Z.ltb (S * Z.of_nat (n - h) * a) (Z.of_nat h * q * T) ->
  Z.leb (a * ((mass a q n h).1 * power q n) * (T * (above a q h (n - h)).2 - (S - T) * (above a q h (n - h)).1) * dd)
    (dn * (b * T * (above a q h (n - h)).2 * ((mass a q n h).2 * power b n))) ->
  more_peak p h (factor_up p c) n /\ p * more_at p n h (factor_up p c) <= delta.
Proof.
have t0 : 0 < inj T by rewrite injM mulr_gt0 ?V0 ?A0.
have sE : factor_up p c = inj S / inj T.
  by rewrite /factor_up !injE; field; rewrite !gt_eqF ?V0 ?A0 ?B0.
have [bn tn] : inj b != 0 /\ inj T != 0 by rewrite !gt_eqF ?B0.
move: T S t0 sE tn => T S t0 sE tn hn /inj_le peak1 peak2 /inj_le val.
rewrite !(injD, injM, inj_nat, inj_power) in peak1.
have q1 : 1 - p = inj q / inj b by rewrite QE; field.
rewrite sE; split.
  split=> //.
    rewrite q1 [X in _ <= X](_ : _ = inj S * (n - h).+1%:R * inj a / (inj T * inj b)); last by field; rewrite bn tn.
    rewrite mulrA [X in X <= _](_ : _ = h%:R * inj q * inj T / (inj T * inj b)); last by field; rewrite bn tn.
    by rewrite ler_wpmul2r // invr_ge0 ltW // mulr_gt0 ?B0.
  case/orP: peak2 => [/eqP ->|/inj_lt peak2]; [by left | right].
  rewrite !(injD, injM, inj_nat, inj_power) in peak2.
  rewrite q1 [X in X < _](_ : _ = inj S * (n - h)%:R * inj a / (inj T * inj b)); last by field; rewrite bn tn.
  rewrite mulrA [X in _ < X](_ : _ = h%:R * inj q * inj T / (inj T * inj b)); last by field; rewrite bn tn.
  by rewrite ltr_pmul2r // invr_gt0 mulr_gt0 ?B0.
have [f_e w0] := mass_value hn; have [d0 te] := @above_sound n (n - h) h (subnKC hn).
move: (above a q h (n - h)) te d0 val => [num den] /= te d0; move: (mass a q n h) f_e w0 => [mn md] /= f_e w0.
rewrite !(injB, injM, inj_nat, inj_power) => val.
have tE : \sum_(h.+1 <= j < n.+1) f n j = f n h * inj num / inj den by rewrite -te mulfK // gt_eqF.
rewrite /more_at tE f_e.
have wn : inj md * inj b ^+ n != 0 by rewrite gt_eqF.
have dn' : inj den != 0 by rewrite gt_eqF.
move: (inj md * inj b ^+ n) wn w0 val => w wn w0 val; move: (inj mn * inj q ^+ n) val => x val.
rewrite [X in X <= _](_ : _ = inj a * x * (inj T * inj den - (inj S - inj T) * inj num) / (inj b * inj T * inj den * w)); last first.
  by field; rewrite wn dn' bn tn.
by apply: frac_le => //; rewrite ?D0 // !mulr_gt0 ?B0.
Qed.

Lemma gainE : gain p c = inj (Z.sub (Z.mul v b) (Z.mul u q)) / (inj v * inj b).
Proof. by rewrite /gain !injB !injM QE; field; rewrite !gt_eqF ?V0 ?B0. Qed.

Lemma down_sound h n (T := Z.sub (Z.mul v b) (Z.mul u q)) (S := Z.mul u a) : Z.ltb Z0 T ->
  (h <= n)%N -> Z.leb (S * Z.of_nat h * q) (T * Z.of_nat (n - h).+1 * a) ->
  (n == h) || Z.ltb (Z.of_nat (n - h) * a * T) (S * Z.of_nat h * q) ->
  Z.leb ((mass a q n h).1 * power q n * (T * (below a q n h).2 - (S - T) * (below a q n h).1) * dd)
    (dn * (v * b * (below a q n h).2 * ((mass a q n h).2 * power b n))) ->
  fewer_peak p h (factor_down p c) n /\ gain p c * fewer_at p n h (factor_down p c) <= delta.
Proof.
move=> t0; have {}t0 : 0 < inj T := inj_lt t0.
have gE : gain p c = inj T / (inj v * inj b) := gainE.
have [bn tn vn] : [/\ inj b != 0, inj T != 0 & inj v != 0] by rewrite !gt_eqF ?B0 ?V0.
have sE : factor_down p c = inj S / inj T by rewrite /factor_down gE !injM; field; rewrite bn tn vn.
rewrite sE gE; move: T S t0 tn {gE sE} => T S t0 tn hn /inj_le peak1 peak2 /inj_le val.
rewrite !(injD, injM, inj_nat, inj_power) in peak1.
have q1 : 1 - p = inj q / inj b by rewrite QE; field.
split.
  split=> //.
    rewrite q1 [X in _ <= X](_ : _ = inj T * (n - h).+1%:R * inj a / (inj T * inj b)); last by field; rewrite bn tn.
    rewrite [X in X <= _](_ : _ = inj S * h%:R * inj q / (inj T * inj b)); last by field; rewrite bn tn.
    by rewrite ler_wpmul2r // invr_ge0 ltW // mulr_gt0 ?B0.
  case/orP: peak2 => [/eqP ->|/inj_lt peak2]; [by left | right].
  rewrite !(injD, injM, inj_nat, inj_power) in peak2.
  rewrite q1 [X in X < _](_ : _ = (n - h)%:R * inj a * inj T / (inj T * inj b)); last by field; rewrite bn tn.
  rewrite [X in _ < X](_ : _ = inj S * h%:R * inj q / (inj T * inj b)); last by field; rewrite bn tn.
  by rewrite ltr_pmul2r // invr_gt0 mulr_gt0 ?B0.
have [f_e w0] := mass_value hn; have [d0 te] := below_sound hn.
move: (below a q n h) te d0 val => [num den] /= te d0; move: (mass a q n h) f_e w0 => [mn md] /= f_e w0.
rewrite !(injB, injM, inj_nat, inj_power) => val.
have tE : \sum_(0 <= j < h) f n j = f n h * inj num / inj den by rewrite -te mulfK // gt_eqF.
rewrite /fewer_at tE f_e.
have wn : inj md * inj b ^+ n != 0 by rewrite gt_eqF.
have dn' : inj den != 0 by rewrite gt_eqF.
move: (inj md * inj b ^+ n) wn w0 val => w wn w0 val; move: (inj mn * inj q ^+ n) val => x val.
rewrite [X in X <= _](_ : _ = x * (inj T * inj den - (inj S - inj T) * inj num) / (inj v * inj b * inj den * w)); last first.
  by field; rewrite wn dn' bn tn vn.
by apply: frac_le => //; rewrite ?D0 // !mulr_gt0 ?B0 ?V0.
Qed.

End Fractions.
Section Passed.
Variables (h up down : nat) (a b u v dn dd : Z).
Hypothesis ok : passes h up down a b u v dn dd.

(* Whoever passes has proved the claim, at the factor u/v and at every larger one, for every mechanism in which crowds of
   h + 1 are alike, every population and every person of it, in both directions. *)
Theorem passed (I O : finType) (M : {set I} -> O -> R) (D : {set I}) (t : I) (c : R) :
  mechanism M -> crowd_blending h.+1 1 M -> t \in D -> inj u / inj v <= c ->
  close c (inj dn / inj dd) (released (at_rate (inj a / inj b) D) M) (released (at_rate (inj a / inj b) (D :\ t)) M).
Proof.
case/and5P: ok => a0 ab v0 vu /and3P[dd0 hup hdown] HM HB tD cc.
have [r0 r1] := (p0 a0 ab, p1 a0 ab); have c1' := c1 v0 vu.
have r01 : 0 <= inj a / inj b <= 1 by rewrite !ltW.
have rel0 E := released_ge0 HM (rates_at E r01).
split.
  apply: le_trans (hockey_antimono _ (rel0 _) cc) _.
  move: hup; rewrite /passes_up; case eA: (above _ _ _ _) => [num den]; case eM: (mass _ _ _ _) => [mn md].
  case/and4P => hn k1 k2 k3.
  have [|pk val] := @up_sound a b (Z.sub b a) a0 ab erefl u v dn dd v0 dd0 h up hn k1 k2; first by rewrite eA eM.
  by apply: le_trans val; apply: exact_up.
apply: le_trans (hockey_antimono _ (rel0 _) cc) _.
move: hdown; rewrite /passes_down; case: ifP => [neg dn0|/negbT pos'].
  have g0 : gain (inj a / inj b : R) (inj u / inj v) <= 0.
    rewrite (gainE a0 ab erefl u v0) pmulr_lle0 ?invr_gt0 ?mulr_gt0 ?(V0 v0) ?(B0 a0 ab) //; exact: inj_le neg.
  apply: (@le_trans _ _ (pos (gain (inj a / inj b : R) (inj u / inj v)) * fewer_at (inj a / inj b) down h (factor_down (inj a / inj b) (inj u / inj v)))).
    by apply: exact_down => // g; move: g0; rewrite leNgt g.
  by rewrite (pos_eq0 g0) mul0r divr_ge0 ?(ltW (D0 dd0)) //; exact: inj_le dn0.
case eA: (below _ _ _ _) => [num den]; case eM: (mass _ _ _ _) => [mn md]; case/and4P => hn k1 k2 k3.
have pos : Z.ltb Z0 (Z.sub (Z.mul v b) (Z.mul u (Z.sub b a))) by lia.
have [|pk val] := @down_sound a b (Z.sub b a) a0 ab erefl u v dn dd v0 dd0 h down pos hn k1 k2; first by rewrite eA eM.
apply: le_trans val; rewrite -[X in _ <= X * _]pos_id; last first.
  by rewrite (gainE a0 ab erefl u v0) divr_ge0 ?mulr_ge0 ?ltW ?(V0 v0) ?(B0 a0 ab) //; exact: inj_lt pos.
by apply: exact_down.
Qed.

End Passed.
End Sound.
