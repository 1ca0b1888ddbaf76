(* What keeps crowd-blending: computing from the outcome, and differential privacy of every table. *)
From mathcomp Require Import all_ssreflect all_algebra.
From crowdblend Require Import hockey coins linear_program crowds suppression.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Kept.
Variables (R : realFieldType) (I O : finType) (M : {set I} -> O -> R) (B : R) (k : nat).

Lemma within_push (U : finType) (K : O -> U -> R) (p q : O -> R) : (forall o u, 0 <= K o u) ->
  within B p q -> within B (push K p) (push K q).
Proof.
move=> K0 /forallP h; apply/forallP => u; apply/andP; split; rewrite /push mulr_sumr; apply: ler_sum => o _;
  by rewrite mulrA ler_wpmul2r //; case/andP: (h o).
Qed.

(* The rule blending.postprocessing. *)
Theorem blending_push (U : finType) (K : O -> U -> R) : (forall o u, 0 <= K o u) ->
  crowd_blending k B M -> crowd_blending k B (fun A => push K (M A)).
Proof.
move=> K0 h A t tA; case: (h A t tA) => [crowd|few]; [left | by right; exact: within_push].
apply: leq_trans crowd _; apply: subset_leq_card; apply/subsetP => u; rewrite !inE => /andP[-> /forallP bl] /=.
by apply/forallP => A'; apply/implyP => /(implyP (bl A')); exact: within_push.
Qed.

(* The rule blending.differential: with one person more or less, without any delta. *)
Theorem differential_blends : (forall (A : {set I}) (t : I), t \in A -> within B (M A) (M (A :\ t))) -> crowd_blending k B M.
Proof. by move=> h A t tA; right; exact: h. Qed.

End Kept.

(* The rule generalization.suppressed: records with a recoded value that is frequent are published, as anything is that can be
   computed from how often each frequent value occurs. *)
Theorem recoded_blends (R : realFieldType) (I C U : finType) (recode : I -> C) (K : {ffun C -> 'I_#|I|.+1} -> U -> R) k :
  (forall o u, 0 <= K o u) -> crowd_blending k.+1 1 (fun A : {set I} => push K (suppression R recode k.+1 A)).
Proof. by move=> K0; apply: blending_push => //; exact: suppression_blends. Qed.
