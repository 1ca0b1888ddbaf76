(* A recoding that is chosen on the sample which is then suppressed: LQS Theorem 6 adds the losses of the choice and of
   the suppression, and keeps the delta of the suppression. Three people refute it. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling suppression counterexamples.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section SameSample.
Variable R : realFieldType.
Local Notation people := 'I_3.
Local Notation table := {ffun bool -> 'I_#|people|.+1}.
Implicit Types (A : {set people}) (j : bool).

(* The left recoding puts the second person with the first, the right one the third; each is chosen with a weight that
   doubles when the person it adds is in the sample. *)
Definition recoding j : people -> bool := if j then left_class else right_class.
Definition weight A j : R := if (if j then two else three) \in A then 2%:R else 1.
Definition choice A j : R := weight A j / (weight A true + weight A false).
Definition release A (o : bool * table) : R := choice A o.1 * suppression R (recoding o.1) 2 A o.2.

Lemma two_gt0 : 0 < 2%:R :> R. Proof. exact: ltr0Sn. Qed.
Lemma weight_bounds A j : 1 <= weight A j <= 2%:R.
Proof. by rewrite /weight; case: ifP; rewrite lexx ?ler1n ?andbT. Qed.
Lemma weight_gt0 A j : 0 < weight A j. Proof. by case/andP: (weight_bounds A j) => h _; exact: lt_le_trans ltr01 h. Qed.
Lemma weight_step A u j : weight A j <= weight (u |: A) j <= 2%:R * weight A j.
Proof.
rewrite /weight !inE; case: ((if j then two else three) \in A); rewrite ?orbT ?lexx /=.
  by rewrite ler_pemull ?ler1n // ltW // two_gt0.
by case: ifP; rewrite ?mulr1 ?lexx ?ler1n.
Qed.

(* The choice loses a factor of at most 2. *)
Theorem choice_is_private A u : within 2%:R (choice (u |: A)) (choice A).
Proof.
have tot A' : 0 < weight A' true + weight A' false by rewrite addr_gt0 ?weight_gt0.
apply/forallP => j; rewrite /choice; have [/andP[l1 h1] /andP[l2 h2]] := (weight_step A u true, weight_step A u false).
have [/andP[lj hj] pj] := (weight_step A u j, weight_gt0 A j); apply/andP; split.
  rewrite mulrA ler_pdivr_mulr // mulrAC ler_pdivl_mulr //; apply: ler_pmul => //; rewrite ?ler_add // ltW ?weight_gt0 ?tot //.
rewrite mulrA ler_pdivr_mulr // mulrAC ler_pdivl_mulr //.
rewrite -mulrA [X in _ <= X]mulrCA; apply: ler_pmul => //; rewrite ?(ltW (weight_gt0 _ _)) ?(ltW (tot _)) //.
by rewrite mulrDr ler_add.
Qed.

(* Suppression alone, at the factor 2 and rate 1/2, whichever recoding: delta is 1/4. *)
Theorem suppression_alone j t : close 2%:R (4%:R^-1)
  (released (at_rate 2%:R^-1 [set: people]) (suppression R (recoding j) 2))
  (released (at_rate 2%:R^-1 ([set: people] :\ t)) (suppression R (recoding j) 2)).
Proof.
have h0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 two_gt0.
have h1 : 2%:R^-1 < 1 :> R by rewrite invf_lt1 ?two_gt0 // ltr1n.
have c1 : 1 <= 2%:R :> R by rewrite ler1n.
have n2 : 2%:R != 0 :> R by rewrite pnatr_eq0.
have up3 : factor_up 2%:R^-1 2%:R = 3%:R :> R by rewrite /factor_up; field.
have gain0 : gain 2%:R^-1 2%:R = 0 :> R by rewrite /gain; field.
split.
  apply: le_trans (@suppression_up R _ _ (recoding j) 2%:R^-1 2%:R 1 setT t 1 (in_setT t) h0 h1 c1 _) _.
    split=> //; last by left.
    by rewrite up3 subnn; apply: (@le_diff _ _ _ 1); [exact: ler01 | field].
  rewrite /more_at big_geq // mulr0 subr0 /pmf binn subnn expr1 expr0 mulr1 mul1r.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
apply: le_trans (@suppression_down R _ _ (recoding j) 2%:R^-1 2%:R 1 setT t 1 (in_setT t) h0 h1 c1 _) _.
  by rewrite gain0 ltxx.
by rewrite gain0 pos0 mul0r invr_ge0 ler0n.
Qed.

(* The class of the first person is shown. *)
Definition first_shown (o : bool * table) : bool := (0 < o.2 true)%N.

Definition seen A : R := \sum_j choice A j * (1 < members (recoding j) A true)%N%:R.

Lemma event_release A : event (release A) first_shown = seen A.
Proof.
rewrite /event big_mkcond -(pair_bigA _ (fun j y => if first_shown (j, y) then release A (j, y) else 0)) /=.
apply: eq_bigr => j _; rewrite (bigD1 (published (recoding j) 2 A)) //= big1 ?addr0 => [|y ne]; last first.
  by rewrite /release /suppression /= (negbTE ne) mulr0 if_same.
rewrite /first_shown /release /suppression /= eqxx mulr1 ffunE /shown; case: (leqP 2 _) => m; last by rewrite inordK //= mulr0.
by rewrite inordK ?(ltn_trans _ m) ?mulr1 // ltnS max_card.
Qed.

Lemma sampled_nobody (b : people -> R) F : (forall i, b i = 0) -> sampled b F = F set0.
Proof.
move=> h; rewrite -(sampled_sure (set0 : {set people}) F); apply: eq_rates => i; by rewrite h inE.
Qed.

Lemma unseen A : one \notin A -> seen A = 0.
Proof.
move=> no; apply: big1 => j _; rewrite ltnNge (_ : (members (recoding j) A true <= 1)%N) ?mulr0 //.
apply: (@leq_trans #|[set if j then two else three]|); last by rewrite cards1.
apply: subset_leq_card; apply/subsetP => i; rewrite !inE => /andP[iA].
have ione : i != one by apply: contraTneq iA => ->.
by case: j => /=; case: i ione {iA} => [[|[|[|]]]].
Qed.

Lemma sampled_unseen (b : people -> R) : b one = 0 -> sampled b seen = 0.
Proof.
move=> h; rewrite /sampled big1 // => A _; case: (boolP (one \in A)) => oA; first by rewrite (coins_notin h oA) mul0r.
by rewrite unseen ?mulr0.
Qed.

Local Ltac see := rewrite /seen big_bool /= /choice /weight ?members_add ?members0 ?inE //=.

Lemma seen_values : [/\ seen (one |: (two |: (three |: set0))) = 1, seen (one |: (two |: set0)) = 2%:R / 3%:R,
  seen (one |: (three |: set0)) = 2%:R / 3%:R & seen (one |: set0) = 0].
Proof.
have [n2 n3] : 2%:R != 0 :> R /\ 3%:R != 0 :> R by rewrite !pnatr_eq0.
split; see; try field; rewrite ?n2 ?n3 //.
Qed.

(* Whatever is allowed for the losses, delta is at least 7/24, and 1/4 was claimed. *)
Theorem same_sample_fails (c d : R) :
  hockey c (released (at_rate 2%:R^-1 [set: people]) release)
    (released (at_rate 2%:R^-1 ([set: people] :\ one)) release) <= d -> 7%:R / 24%:R <= d.
Proof.
move=> /hockey_events /(_ first_shown); rewrite /event !sampled_sum.
have e b : sampled b (fun A => \sum_(o | first_shown o) release A o) = sampled b seen.
  by apply: eq_sampled => A; exact: event_release.
rewrite !e [X in _ <= _ * X + _]sampled_unseen; last by rewrite /at_rate !inE.
rewrite mulr0 add0r; apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite (sampled_person _ one) [X in _ + _ * X]sampled_unseen; last by rewrite /without eqxx.
rewrite mulr0 addr0 (sampled_person _ two).
rewrite [sampled _ (fun A => seen (one |: (two |: A)))](sampled_person _ three).
rewrite [sampled _ (fun A => seen (one |: A))](sampled_person _ three) !sampled_nobody; try by case=> [[|[|[|]]]].
have [-> -> -> ->] := seen_values; rewrite /without /at_rate !inE /=.
by field.
Qed.

End SameSample.
