(* The others who are sampled: a binomial number, and given it every set of so many is as likely as any other. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Averages.
Variables (R : realFieldType) (I : finType) (K : {set I}).
Implicit Types (m : nat) (x y : {set I} -> R).
Local Notation n := #|K|.

Definition draws m : pred {set I} := fun A => (A \subset K) && (#|A| == m).
Definition average m x : R := (\sum_(A | draws m A) x A) / 'C(n, m)%:R.

Lemma bin_neq0 m : (m <= n)%N -> 'C(n, m)%:R != 0 :> R.
Proof. by move=> mn; rewrite pnatr_eq0 -lt0n bin_gt0. Qed.

Lemma draws_total m : \sum_(A | draws m A) 1 = 'C(n, m)%:R :> R.
Proof. by rewrite -cards_draws -sum1_card natr_sum; apply: eq_bigl => A; rewrite inE. Qed.

Lemma average_big m x : (n < m)%N -> average m x = 0.
Proof. by move=> nm; rewrite /average bin_small // invr0 mulr0. Qed.

Lemma average_compl m x : (m <= n)%N -> average m (fun A => 1 - x A) = 1 - average m x.
Proof. by move=> mn; rewrite /average sumrB draws_total mulrBl mulfV // bin_neq0. Qed.

Lemma average_01 m x : (forall A, 0 <= x A <= 1) -> 0 <= average m x <= 1.
Proof.
move=> x01; case: (leqP m n) => mn; last by rewrite average_big // lexx ler01.
have C0 : 0 < 'C(n, m)%:R :> R by rewrite ltr0n bin_gt0.
rewrite divr_ge0 ?ler0n ?sumr_ge0 //=; last by move=> A _; case/andP: (x01 A).
rewrite ler_pdivr_mulr // mul1r -draws_total; apply: ler_sum => A _; by case/andP: (x01 A).
Qed.

Lemma average_le m c x y : (forall A, draws m A -> x A <= c * y A) -> average m x <= c * average m y.
Proof.
move=> h; rewrite /average mulrA ler_wpmul2r ?invr_ge0 ?ler0n // mulr_sumr; exact: ler_sum.
Qed.

(* Drawing one member more. *)
Lemma double_count m x :
  \sum_(A | draws m A) \sum_(u | (u \in K) && (u \notin A)) x (u |: A) = m.+1%:R * \sum_(A | draws m.+1 A) x A.
Proof.
have -> : m.+1%:R * (\sum_(A | draws m.+1 A) x A) = \sum_(A | draws m.+1 A) \sum_(u | u \in A) x A.
  by rewrite mulr_sumr; apply: eq_bigr => A /andP[_ /eqP c]; rewrite sumr_const c mulr_natl.
rewrite !pair_big_dep /=.
rewrite (reindex_onto (fun z : {set I} * I => (z.1 :\ z.2, z.2)) (fun z : {set I} * I => (z.2 |: z.1, z.2))) /=; last first.
  by move=> [A u] /= /andP[_ /andP[_ uA]]; rewrite setU1K.
apply: eq_big => [[A u]|[A u] /andP[/andP[_ _] /eqP[-> ]]] //=.
rewrite /draws !inE eqxx /= andbT xpair_eqE eqxx andbT; apply/idP/idP.
  move=> /andP[/andP[/andP[sub /eqP c] uK] /eqP e]; have uA : u \in A by rewrite -e setU11.
  rewrite uA andbT -e subUset sub1set uK sub /= -e cardsU1 !inE eqxx /= add1n eqSS -c.
  by rewrite e.
move=> /andP[/andP[sub /eqP c] uA]; rewrite (setD1K uA) eqxx andbT (subsetP sub _ uA) andbT.
by rewrite (subset_trans (subD1set _ _) sub) /= -eqSS -c (cardsD1 u A) uA add1n.
Qed.

Lemma average_before m x : (m < n)%N ->
  average m x = (\sum_(A | draws m A) \sum_(u | (u \in K) && (u \notin A)) x A) / ((n - m)%:R * 'C(n, m)%:R).
Proof.
move=> mn; have -> : \sum_(A | draws m A) \sum_(u | (u \in K) && (u \notin A)) x A = (n - m)%:R * \sum_(A | draws m A) x A.
  rewrite mulr_sumr; apply: eq_bigr => A /andP[sub /eqP c]; rewrite sumr_const -[LHS]mulr_natl; congr (_%:R * _).
  rewrite -c -(cardsDS sub); apply: eq_card => u; by rewrite !inE andbC.
by rewrite -mulf_div mulfV ?mul1r // pnatr_eq0 subn_eq0 -ltnNge.
Qed.

Lemma average_after m x : (m < n)%N ->
  average m.+1 x = (\sum_(A | draws m A) \sum_(u | (u \in K) && (u \notin A)) x (u |: A)) / ((n - m)%:R * 'C(n, m)%:R).
Proof.
move=> mn; rewrite double_count -natrM -mul_bin_left natrM -mulf_div mulfV ?mul1r ?pnatr_eq0 //.
Qed.

Lemma average_grow m c x y : (m < n)%N ->
  (forall A u, draws m A -> u \in K -> u \notin A -> x A <= c * y (u |: A)) -> average m x <= c * average m.+1 y.
Proof.
move=> mn h; rewrite (average_before x) // (average_after y) // mulrA ler_wpmul2r ?invr_ge0 ?mulr_ge0 ?ler0n // mulr_sumr.
by apply: ler_sum => A dA; rewrite mulr_sumr; apply: ler_sum => u /andP[uK uA]; exact: h.
Qed.

Lemma average_shrink m c x y : (m < n)%N ->
  (forall A u, draws m A -> u \in K -> u \notin A -> y (u |: A) <= c * x A) -> average m.+1 y <= c * average m x.
Proof.
move=> mn h; rewrite (average_before x) // (average_after y) // mulrA ler_wpmul2r ?invr_ge0 ?mulr_ge0 ?ler0n // mulr_sumr.
by apply: ler_sum => A dA; rewrite mulr_sumr; apply: ler_sum => u /andP[uK uA]; exact: h.
Qed.

(* The number of sampled members is binomial, and given it all sets of members are alike. *)
Lemma coins_at (r : R) A : coins (at_rate r K) A = if A \subset K then r ^+ #|A| * (1 - r) ^+ (n - #|A|) else 0.
Proof.
case: ifP => [sub|/negbT/subsetPn[i iA iK]]; last by apply: (@coins_notin _ _ _ _ i) => //; rewrite /at_rate (negbTE iK).
rewrite /coins (bigID (mem A)) /=; congr (_ * _).
  rewrite (eq_bigr (fun=> r)) ?prodr_const // => i iA; by rewrite iA /at_rate (subsetP sub).
rewrite (bigID (mem K)) /= [X in _ * X]big1 ?mulr1 => [|i /andP[/negbTE-> /negbTE iK]]; last by rewrite /at_rate iK subr0.
rewrite (eq_bigr (fun=> 1 - r)) => [|i /andP[/negbTE-> iK]]; last by rewrite /at_rate iK.
by rewrite prodr_const -(cardsDS sub); congr (_ ^+ _); apply: eq_card => i; rewrite !inE.
Qed.

Theorem sampled_count (r : R) x : sampled (at_rate r K) x = \sum_(0 <= m < n.+1) pmf r n m * average m x.
Proof.
rewrite /sampled (bigID (fun A : {set I} => A \subset K)) /= [X in _ + X]big1 ?addr0 => [|A /negbTE sub]; last first.
  by rewrite coins_at sub mul0r.
have small (A : {set I}) : A \subset K -> (#|A| < n.+1)%N by move=> sub; exact: subset_leq_card sub.
rewrite (partition_big (fun A : {set I} => inord #|A| : 'I_n.+1) xpredT) //= big_mkord; apply: eq_bigr => m _.
rewrite /average mulrA /pmf.
rewrite (eq_bigl (draws m)) => [|A]; last first.
  rewrite /draws; case: (boolP (A \subset K)) => //= sub; apply/eqP/eqP => [<-|e]; first by rewrite inordK ?small.
  by apply: val_inj; rewrite /= inordK ?small.
rewrite (eq_bigr (fun A => r ^+ m * (1 - r) ^+ (n - m) * x A)) => [|A /andP[sub /eqP c]]; last by rewrite coins_at sub c.
rewrite -mulr_sumr; move: (\sum_(A | draws m A) x A) => z; field; exact: bin_neq0 (ltn_ord m).
Qed.

End Averages.
