(* Strata that share nobody: a mechanism on the sampled people of each, and all of it is published (the rule strata.worst). *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Strata.
Variables (R : realFieldType) (I S O : finType) (stratum : I -> S) (M : S -> {set I} -> O -> R).
Hypotheses (M0 : forall s A o, 0 <= M s A o) (M1 : forall s A, \sum_o M s A o = 1).
Implicit Types (A : {set I}) (b : I -> R) (t : I) (y : {ffun S -> O}).

Definition people s : {set I} := [set i | stratum i == s].
(* The mechanism of a stratum sees nobody else, and all mechanisms have randomness of their own. *)
Definition of_stratum s A : O -> R := M s (A :&: people s).
Definition of_all A y : R := \prod_s of_stratum s A (y s).

Section One.
Variables (b : I -> R) (s0 : S).
Hypothesis hb : rates b.
Definition inside i : R := if stratum i == s0 then b i else 0.
Definition outside i : R := if stratum i == s0 then 0 else b i.
Definition elsewhere A y : R := \prod_(s | s != s0) of_stratum s A (y s).

Lemma supported (b' : I -> R) F F' : (forall A, (forall i, i \in A -> b' i != 0) -> F A = F' A) -> sampled b' F = sampled b' F'.
Proof.
move=> h; apply: eq_bigr => A _; case: (boolP [exists i, (i \in A) && (b' i == 0)]) => [/existsP[i /andP[iA /eqP e]]|/existsPn ne].
  by rewrite (coins_notin e iA) !mul0r.
by rewrite h // => i iA; have := ne i; rewrite iA.
Qed.

Lemma union_strata b' F : (forall i, b' i = if stratum i == s0 then b' i else b i) ->
  sampled b' F = sampled outside (fun A2 => sampled (fun i => if stratum i == s0 then b' i else 0) (fun A1 => F (A1 :|: A2))).
Proof.
move=> h; rewrite (@sampled_union _ _ b' outside (fun i => if stratum i == s0 then b' i else 0)) => [|i].
  by apply: eq_sampled => A2; apply: eq_sampled => A1; rewrite setUC.
by rewrite {1}h /outside; case: ifP => _; ring.
Qed.

(* What is published of one stratum is independent of what is published of the others. *)
Lemma independent b' y : (forall i, stratum i != s0 -> b' i = b i) ->
  released b' of_all y = released outside elsewhere y * released b' (of_stratum s0) (y s0).
Proof.
move=> h; have h' i : b' i = if stratum i == s0 then b' i else b i by case: (eqVneq (stratum i) s0) => // /h.
rewrite /released (union_strata _ h') [sampled b' (fun A => of_stratum s0 A (y s0))](union_strata _ h').
set inn := fun i : I => _.
have fixed A2 : (forall i, i \in A2 -> outside i != 0) ->
    sampled inn (fun A1 => of_stratum s0 (A1 :|: A2) (y s0)) = sampled inn (fun A1 => of_stratum s0 A1 (y s0)).
  move=> out; apply: eq_sampled => A1; rewrite /of_stratum setIUl; congr (M s0 _ (y s0)).
  suff -> : A2 :&: people s0 = set0 by rewrite setU0.
  apply/setP => i; rewrite !inE; apply/negbTE; apply/negP => /andP[/out]; by rewrite /outside => /[swap] ->; rewrite eqxx.
rewrite [X in _ * X](supported (F' := fun=> sampled inn (fun A1 => of_stratum s0 A1 (y s0))) fixed) sampled_const.
set Z := sampled inn (fun A1 => of_stratum s0 A1 (y s0)).
have -> : sampled outside (fun A => elsewhere A y) * Z = sampled outside (fun A => elsewhere A y * Z).
  by rewrite /sampled mulr_suml; apply: eq_bigr => A _; rewrite mulrA.
apply: supported => A2 out; rewrite /Z -(fixed A2 out).
have -> : elsewhere A2 y * sampled inn (fun A1 => of_stratum s0 (A1 :|: A2) (y s0)) =
    sampled inn (fun A1 => elsewhere A2 y * of_stratum s0 (A1 :|: A2) (y s0)).
  by rewrite /sampled mulr_sumr; apply: eq_bigr => A1 _; rewrite mulrCA.
apply: supported => A1 inn1; rewrite /of_all (bigD1 s0) //= mulrC; congr (_ * _).
apply: eq_bigr => s ss; rewrite /of_stratum setIUl; suff -> : A1 :&: people s = set0 by rewrite set0U.
apply/setP => i; rewrite !inE; apply/negbTE; apply/negP => /andP[/inn1]; rewrite /inn.
by move=> /[swap] /eqP ->; rewrite (negbTE ss) eqxx.
Qed.

Lemma outside_rates : rates outside.
Proof. by move=> i; rewrite /outside; case: ifP => // _; rewrite lexx ler01. Qed.

(* Whatever the other strata publish beside it, the divergence is that of the stratum. *)
Lemma hockey_beside c (p q : O -> R) : hockey c (fun y => released outside elsewhere y * p (y s0))
  (fun y => released outside elsewhere y * q (y s0)) = hockey c p q.
Proof.
have e0 y : 0 <= released outside elsewhere y.
  by apply: sumr_ge0 => A _; apply: mulr_ge0; [exact: coins_ge0 outside_rates | apply: prodr_ge0 => s _; exact: M0].
rewrite /hockey (eq_bigr (fun y => sampled outside (fun A => elsewhere A y * pos (p (y s0) - c * q (y s0))))); last first.
  move=> y _; rewrite mulrCA -mulrBr posM // /released /sampled mulr_suml; apply: eq_bigr => A _; by rewrite mulrA.
rewrite sampled_sum -[RHS](sampled_const outside); apply: eq_sampled => A.
pose F s o := if s == s0 then pos (p o - c * q o) else of_stratum s A o.
transitivity (\sum_(y : {ffun S -> O}) \prod_s F s (y s)).
  apply: eq_bigr => y _; rewrite [in RHS](bigD1 s0) //= /F eqxx mulrC; congr (_ * _).
  by apply: eq_bigr => s /negbTE ->.
rewrite -bigA_distr_bigA (bigD1 s0) //= [X in _ * X]big1 ?mulr1 => [|s /negbTE ss]; last first.
  by rewrite (eq_bigr (of_stratum s A)) => [|o _]; rewrite ?M1 // /F ss.
by apply: eq_bigr => o _; rewrite /F eqxx.
Qed.

End One.
(* One person more or less, in whichever stratum: the largest factor and the largest delta of all strata. *)
Theorem strata_worst b t c d (cs ds : S -> R) : rates b -> (forall s, cs s <= c) -> (forall s, ds s <= d) ->
  (forall s u, stratum u = s ->
    close (cs s) (ds s) (released b (of_stratum s)) (released (without u b) (of_stratum s))) ->
  close c d (released b of_all) (released (without t b) of_all).
Proof.
move=> hb hc hd h; have [up down] := h _ t erefl; set s0 := stratum t in up down.
have off i : stratum i != s0 -> without t b i = b i.
  by move=> ne; rewrite /without; case: (eqVneq i t) => // e; rewrite e eqxx in ne.
have ge0 b' : rates b' -> forall o, 0 <= released b' (of_stratum s0) o.
  by move=> hb' o; apply: sumr_ge0 => A _; rewrite mulr_ge0 ?coins_ge0 // M0.
have hw := rates_without t hb.
have eb : released b of_all =1 (fun y => released (outside b s0) (elsewhere s0) y * released b (of_stratum s0) (y s0)).
  by move=> y; apply: independent.
have ew : released (without t b) of_all =1
    (fun y => released (outside b s0) (elsewhere s0) y * released (without t b) (of_stratum s0) (y s0)).
  by move=> y; apply: independent; exact: off.
split; rewrite ?(eq_hockey _ eb ew) ?(eq_hockey _ ew eb) hockey_beside //.
  by apply: le_trans (hd s0); apply: le_trans up; apply: hockey_antimono => //; exact: ge0.
by apply: le_trans (hd s0); apply: le_trans down; apply: hockey_antimono => //; exact: ge0.
Qed.

End Strata.
