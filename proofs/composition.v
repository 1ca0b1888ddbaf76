(* Several releases, each of which may depend on what was published before it: sums, and pairs of laws that dominate. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From crowdblend Require Import hockey.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Composition.
Variables (R : realFieldType) (Y Z : finType).
Implicit Types (c d : R).

(* The law of both outcomes, the second given the first. *)
Definition both (p1 : Y -> R) (p2 : Y -> Z -> R) : Y * Z -> R := fun x => p1 x.1 * p2 x.1 x.2.

Section Sums.
Variables (p1 q1 : Y -> R) (p2 q2 : Y -> Z -> R).
Hypotheses (p10 : forall y, 0 <= p1 y) (q10 : forall y, 0 <= q1 y) (p20 : forall y z, 0 <= p2 y z) (q20 : forall y z, 0 <= q2 y z).
Hypotheses (p1_total : \sum_y p1 y = 1) (p2_total : forall y, \sum_z p2 y z = 1).

(* The rules composition.differential and composition.adaptive, in one direction: factors multiply, deltas add up. *)
Theorem composition_sums c1 c2 d1 d2 : 0 <= c1 -> 0 <= c2 -> hockey c1 p1 q1 <= d1 -> (forall y, hockey c2 (p2 y) (q2 y) <= d2) ->
  hockey (c1 * c2) (both p1 p2) (both q1 q2) <= d1 + d2.
Proof.
move=> c10 c20 h1 h2; rewrite /hockey -(pair_bigA _ (fun y z => pos (p1 y * p2 y z - c1 * c2 * (q1 y * q2 y z)))) /=.
have term y z : pos (p1 y * p2 y z - c1 * c2 * (q1 y * q2 y z)) <=
    p1 y * pos (p2 y z - c2 * q2 y z) + pos (p1 y - c1 * q1 y) * p2 y z.
  set e := pos (p1 y - c1 * q1 y); set x := p2 y z; set w := q2 y z.
  have e0 : 0 <= e := pos_ge0 _; have x0 : 0 <= x := p20 y z; have w0 : 0 <= w := q20 y z.
  have m0 : 0 <= p1 y - e by rewrite subr_ge0; apply: pos_le => //; rewrite ler_subl_addr ler_addl mulr_ge0.
  have mq : p1 y - e <= c1 * q1 y by rewrite ler_subl_addr -ler_subl_addl; exact: le_pos.
  apply: pos_le; first by rewrite addr_ge0 ?mulr_ge0 ?pos_ge0.
  apply: (@le_trans _ _ ((p1 y - e) * (x - c2 * w) + e * x)).
    apply: (@le_diff _ _ _ ((c1 * q1 y - (p1 y - e)) * (c2 * w))); last by ring.
    by rewrite mulr_ge0 ?subr_ge0 // mulr_ge0.
  rewrite ler_add2r; apply: (@le_trans _ _ ((p1 y - e) * pos (x - c2 * w))); first by rewrite ler_wpmul2l ?le_pos.
  by rewrite ler_wpmul2r ?pos_ge0 // ler_subl_addr ler_addl.
apply: (@le_trans _ _ (\sum_y (p1 y * d2 + pos (p1 y - c1 * q1 y)))).
  apply: ler_sum => y _; apply: le_trans (ler_sum _ (fun z _ => term y z)) _.
  by rewrite big_split /= -mulr_sumr -mulr_sumr p2_total mulr1 ler_add2r ler_wpmul2l ?h2.
by rewrite big_split /= -mulr_suml p1_total mul1r addrC ler_add2r.
Qed.

End Sums.

(* A pair of measures dominates a pair of laws: at every factor its divergence is at least theirs. *)
Definition dominates (T U : finType) (a a' : U -> R) (p q : T -> R) := forall c, 0 <= c -> hockey c p q <= hockey c a a'.

Lemma dominates_scaled (T U : finType) (a a' : U -> R) (p q : T -> R) (x x' c : R) :
  (forall u, 0 <= a' u) -> (forall t, 0 <= q t) -> 0 <= x -> 0 <= x' -> 0 <= c -> dominates a a' p q ->
  \sum_t pos (x * p t - c * (x' * q t)) <= \sum_u pos (x * a u - c * (x' * a' u)).
Proof.
move=> a0 q0 x0 x0' c0 h; case: (eqVneq x 0) => [->|xn].
  rewrite big1 => [|t _]; first by apply: sumr_ge0 => u _; exact: pos_ge0.
  by rewrite mul0r sub0r pos_eq0 // oppr_le0 !mulr_ge0.
have scaled (V : finType) (f g : V -> R) : \sum_v pos (x * f v - c * (x' * g v)) = x * hockey (c * x' / x) f g.
  by rewrite /hockey mulr_sumr; apply: eq_bigr => v _; rewrite -posM //; congr pos; field.
by rewrite !scaled ler_wpmul2l // h // divr_ge0 // mulr_ge0.
Qed.

(* Products of dominating pairs dominate adaptive compositions. *)
Theorem products_dominate (T U : finType) (a1 b1 : T -> R) (a2 b2 : U -> R)
    (p1 q1 : Y -> R) (p2 q2 : Y -> Z -> R) :
  (forall t, 0 <= b1 t) -> (forall u, 0 <= a2 u) -> (forall u, 0 <= b2 u) ->
  (forall y, 0 <= p1 y) -> (forall y, 0 <= q1 y) -> (forall y z, 0 <= q2 y z) ->
  dominates a1 b1 p1 q1 -> (forall y, dominates a2 b2 (p2 y) (q2 y)) ->
  dominates (times a1 a2) (times b1 b2) (both p1 p2) (both q1 q2).
Proof.
move=> b10 a20 b20 p10 q10 q20 h1 h2 c c0.
rewrite /hockey -(pair_bigA _ (fun y z => pos (p1 y * p2 y z - c * (q1 y * q2 y z)))) /=.
rewrite -(pair_bigA _ (fun t u => pos (a1 t * a2 u - c * (b1 t * b2 u)))) /=.
apply: (@le_trans _ _ (\sum_y \sum_u pos (p1 y * a2 u - c * (q1 y * b2 u)))).
  by apply: ler_sum => y _; apply: dominates_scaled.
rewrite exchange_big [X in _ <= X]exchange_big /=; apply: ler_sum => u _.
rewrite (eq_bigr (fun y => pos (a2 u * p1 y - c * (b2 u * q1 y)))) => [|y _]; last by rewrite ![_ * p1 y]mulrC ![_ * q1 y]mulrC.
rewrite [X in _ <= X](eq_bigr (fun t => pos (a2 u * a1 t - c * (b2 u * b1 t)))) => [|t _].
  exact: dominates_scaled.
by rewrite ![_ * a1 t]mulrC ![_ * b1 t]mulrC.
Qed.

End Composition.

(* The rule differential.group: a chain of worlds, each with one person more or less than the one before. *)
Theorem groups (R : realFieldType) (T : finType) (c d : R) (m : nat) (p : nat -> T -> R) : 0 <= c ->
  (forall i, (i < m)%N -> hockey c (p i) (p i.+1) <= d) ->
  hockey (c ^+ m) (p 0%N) (p m) <= d * \sum_(i < m) c ^+ i.
Proof.
move=> c0; elim: m p => [|m IH] p h.
  by rewrite big_ord0 mulr0 /hockey big1 // => t _; rewrite expr0 mul1r subrr pos0.
rewrite exprS; apply: le_trans (hockey_chain _ _ (p 1%N) _ c0) _.
have step := IH (fun i => p i.+1) (fun i im => h i.+1 im).
apply: le_trans (ler_add (h 0%N (ltn0Sn m)) (ler_wpmul2l c0 step)) _.
rewrite big_ord_recl expr0 mulrDr mulr1 ler_add2l mulrCA mulr_sumr le_eqVlt; apply/orP; left; apply/eqP.
by congr (d * _); apply: eq_bigr => i _; rewrite exprS.
Qed.
