(* A histogram of fixed classes that hides the counts below k, on a sample: its exact delta. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Suppression.
Variables (R : realFieldType) (I C : finType) (class : I -> C).
Implicit Types (A D : {set I}) (t u : I) (k : nat).

(* How many people of a table are in a class, and what is published: 0 where there are fewer than k. *)
Definition members A (x : C) : nat := #|[set i in A | class i == x]|.
Definition shown k (m : nat) : nat := if (k <= m)%N then m else 0%N.
Definition published k A : {ffun C -> 'I_#|I|.+1} := [ffun x => inord (shown k (members A x))].
Definition suppression k A : {ffun C -> 'I_#|I|.+1} -> R := fun o => (o == published k A)%:R.

Lemma suppression_mechanism k : mechanism (suppression k).
Proof.
split=> [A o|A]; first exact: ler0n.
by rewrite /suppression (bigD1 (published k A)) //= eqxx big1 ?addr0 // => o /negbTE ->.
Qed.

Lemma members_add A t x : t \notin A -> members (t |: A) x = ((class t == x) + members A x)%N.
Proof.
move=> tA; rewrite /members; case: eqP => tx.
  have -> : [set i in t |: A | class i == x] = t |: [set i in A | class i == x].
    by apply/setP => i; rewrite !inE; case: (eqVneq i t) => [->|] //=; rewrite tx eqxx.
  by rewrite cardsU1 inE (negbTE tA).
apply: eq_card => i; rewrite !inE; case: (eqVneq i t) => [->|] //=.
by rewrite (negbTE tA); apply/eqP.
Qed.

Lemma within_refl (p : {ffun C -> 'I_#|I|.+1} -> R) : within 1 p p.
Proof. by apply/forallP => o; rewrite mul1r lexx. Qed.

Lemma same_class_blends k t u : class t = class u -> blends 1 (suppression k) t u.
Proof.
move=> tu; apply/forallP => A; apply/implyP => /andP[tA uA].
suff -> : suppression k (t |: A) = suppression k (u |: A) by exact: within_refl.
rewrite /suppression; suff -> : published k (t |: A) = published k (u |: A) by [].
by apply/ffunP => x; rewrite !ffunE !members_add // tu.
Qed.

(* The rule histogram.suppressed. *)
Theorem suppression_blends k : crowd_blending k.+1 1 (suppression k.+1).
Proof.
move=> A t tA; case: (leqP k.+1 (members A (class t))) => m; [left|right].
  apply: leq_trans m _; apply: subset_leq_card; apply/subsetP => u; rewrite !inE => /andP[-> /eqP e] /=.
  exact: same_class_blends.
suff -> : suppression k.+1 (A :\ t) = suppression k.+1 A by exact: within_refl.
rewrite /suppression; suff -> : published k.+1 (A :\ t) = published k.+1 A by [].
apply/ffunP => x; rewrite !ffunE; congr inord.
have e : members A x = ((class t == x) + members (A :\ t) x)%N by rewrite -members_add ?setD1K // !inE eqxx.
move: m e; rewrite /shown; case: eqP => [<-|_] m e; last by rewrite e.
have m' : (members (A :\ t) (class t) <= k)%N by rewrite e in m; move: m; rewrite add1n ltnS => /ltnW.
by rewrite (leqNgt k.+1) ltnS m' (leqNgt k.+1) m.
Qed.

(* The rule suppression.exact for it: one person more, and one person fewer. *)
Theorem suppression_up (r c : R) k D t n0 : t \in D -> 0 < r -> r < 1 -> 1 <= c -> more_peak r k (factor_up r c) n0 ->
  hockey c (released (at_rate r D) (suppression k.+1)) (released (at_rate r (D :\ t)) (suppression k.+1)) <=
  r * more_at r n0 k (factor_up r c).
Proof. by move=> *; apply: exact_up => //; [exact: suppression_mechanism | exact: suppression_blends]. Qed.

Theorem suppression_down (r c : R) k D t n0 : t \in D -> 0 < r -> r < 1 -> 1 <= c ->
  (0 < gain r c -> fewer_peak r k (factor_down r c) n0) ->
  hockey c (released (at_rate r (D :\ t)) (suppression k.+1)) (released (at_rate r D) (suppression k.+1)) <=
  pos (gain r c) * fewer_at r n0 k (factor_down r c).
Proof. by move=> *; apply: exact_down => //; [exact: suppression_mechanism | exact: suppression_blends]. Qed.

End Suppression.
