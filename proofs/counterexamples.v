(* Two mechanisms that hide everybody in crowds of two, and do not when both are run on one table (CBP Proposition 7). *)
From mathcomp Require Import all_ssreflect all_algebra.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling suppression.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Overlap.
Variable R : realFieldType.

(* Three people: the first is in both crowds, the second and the third in one each. *)
Local Notation people := 'I_3.
Definition one : people := @Ordinal 3 0 isT.
Definition two : people := @Ordinal 3 1 isT.
Definition three : people := @Ordinal 3 2 isT.
Definition left_class (i : people) : bool := i != three.
Definition right_class (i : people) : bool := i != two.

Local Notation law := ({ffun bool -> 'I_#|people|.+1} -> R).
Definition left_table : {set people} -> law := suppression R left_class 2.
Definition right_table : {set people} -> law := suppression R right_class 2.
Definition both_tables (A : {set people}) := times (left_table A) (right_table A).

Lemma members0 (class : people -> bool) (x : bool) : members class (set0 : {set people}) x = 0%N.
Proof. by apply/eqP; rewrite cards_eq0; apply/eqP/setP => i; rewrite !inE. Qed.

Lemma apart (B : R) (A A' : {set people}) :
  published left_class 2 A != published left_class 2 A' \/ published right_class 2 A != published right_class 2 A' ->
  ~ within B (both_tables A) (both_tables A').
Proof.
move=> ne /forallP /(_ (published left_class 2 A, published right_class 2 A)) /andP[+ _].
rewrite /both_tables /times /left_table /right_table /suppression /= !eqxx mulr1.
by case: ne => /negbTE ->; rewrite !(mul0r, mulr0) ler10.
Qed.

Lemma counts (class : people -> bool) (A A' : {set people}) (x : bool) : (2 <= members class A x)%N -> (members class A' x < 2)%N ->
  published class 2 A != published class 2 A'.
Proof.
move=> h h'; apply/eqP => /ffunP /(_ x); rewrite !ffunE /shown h leqNgt h' /= => /(congr1 (@nat_of_ord _)).
rewrite !inordK //; first by move=> e; rewrite e in h.
by rewrite ltnS max_card.
Qed.

Lemma three_people : setT = one |: (two |: (three |: set0)).
Proof. by apply/setP => i; rewrite !inE; case: i => [[|[|[|]]]]. Qed.

Lemma both_are_blending : crowd_blending 2 1 left_table /\ crowd_blending 2 1 right_table.
Proof. by split; exact: suppression_blends. Qed.

Local Ltac count := rewrite ?members_add ?members0 ?inE //.

Theorem crowds_do_not_compose (B : R) : ~ crowd_blending 2 B both_tables.
Proof.
move=> /(_ setT one (in_setT _)) [big|]; last first.
  have -> : setT :\ one = two |: (three |: set0) by apply/setP => i; rewrite !inE; case: i => [[|[|[|]]]].
  apply: apart; left; apply: (@counts _ _ _ true); first by rewrite three_people; count.
  by count.
have [w wc w1] : exists2 w, blends B both_tables one w & w != one.
  have : (0 < #|[set u in setT | blends B both_tables one u] :\ one|)%N.
    by rewrite -(ltn_add2l 1) addn0 (leq_trans big) // (cardsD1 one) leq_add2r leq_b1.
  by case/card_gt0P => w; rewrite !inE => /andP[? ?]; exists w.
have [e|e] : w = two \/ w = three.
- by case: w wc w1 => [[|[|[|]]] i] // _ _; [left | right]; apply: val_inj.
- move: wc; rewrite e => /forallP /(_ [set three]); rewrite !inE /=.
  apply: apart; right; apply: (@counts _ _ _ true); rewrite -[[set three]]setU0; count.
move: wc; rewrite e => /forallP /(_ [set two]); rewrite !inE /=.
apply: apart; left; apply: (@counts _ _ _ true); rewrite -[[set two]]setU0; count.
Qed.

End Overlap.
