(* Crowd-blending mechanisms, and what the coins of everybody else leave of one person in them. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial linear_program averages.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Blending.
Variables (R : realFieldType) (I O : finType).
Implicit Types (M : {set I} -> O -> R) (B : R) (t u : I) (A D : {set I}).

(* Outcomes differ in probability by a factor of at most B, and so do events. *)
Definition within B (p q : O -> R) := [forall o, (p o <= B * q o) && (q o <= B * p o)].

(* t and u blend: whoever else is in the table, one may stand in for the other. *)
Definition blends B M t u := [forall A : {set I}, (t \notin A) && (u \notin A) ==> within B (M (t |: A)) (M (u |: A))].

(* Each person of a table blends with at least k people of it, the person included, or hardly matters. *)
Definition crowd_blending (k : nat) B M := forall A t, t \in A ->
  (k <= #|[set u in A | blends B M t u]|)%N \/ within B (M A) (M (A :\ t)).

Lemma within_events B p q (S : pred O) : within B p q -> event p S <= B * event q S /\ event q S <= B * event p S.
Proof.
move=> /forallP h; split; rewrite /event mulr_sumr; apply: ler_sum => o _; by case/andP: (h o).
Qed.

(* An event and its complement. *)
Lemma within_reaches B p q S : \sum_o p o = 1 -> \sum_o q o = 1 -> within B p q -> reaches B (event p S) (event q S).
Proof.
move=> p1 q1 w; have compl r : \sum_o r o = 1 -> 1 - event r S = event r (predC S).
  by move=> <-; rewrite (bigID S) /= [X in X - _]addrC addrK.
by split; [case: (within_events S w) | rewrite !compl //; case: (within_events (predC S) w)].
Qed.

Lemma within_sym B p q : within B p q -> within B q p.
Proof. by move=> /forallP h; apply/forallP => o; rewrite andbC. Qed.

Section Person.
Variables (M : {set I} -> O -> R) (B : R) (k : nat) (D : {set I}) (t : I) (r s : R).
Hypotheses (HM : mechanism M) (B_ge1 : 1 <= B) (HB : crowd_blending k.+1 B M) (tD : t \notin D).
Hypotheses (r_gt0 : 0 < r) (r_lt1 : r < 1) (s_ge : B <= s).

(* The others who blend with t, and the rest. *)
Definition companions := [set u in D | blends B M t u].
Local Notation K := companions.
Local Notation b := (at_rate r D).

Local Lemma r_01 : 0 <= r <= 1. Proof. by rewrite !ltW. Qed.

Local Lemma released_split (N : {set I} -> O -> R) o : released b N o =
  released (at_rate r (D :\: K)) (fun A2 => released (at_rate r K) (fun A1 => N (A1 :|: A2))) o.
Proof.
rewrite /released (@sampled_union _ _ _ (at_rate r (D :\: K)) (at_rate r K)) => [|i].
  by apply: eq_sampled => A2; apply: eq_sampled => A1; rewrite setUC.
rewrite /at_rate !inE; case: (i \in D) => /=; last by ring.
by rewrite andbT; case: (blends B M t i) => /=; ring.
Qed.

Section Given.
Variables (A2 : {set I}) (S : pred O).
Hypothesis A2_rest : forall i, i \in A2 -> i \in D :\: K.

Local Notation x := (fun A : {set I} => event (M (t |: (A :|: A2))) S).
Local Notation y := (fun A : {set I} => event (M (A :|: A2)) S).
Local Notation a m := (average K m x).
Local Notation b' m := (average K m y).

Local Lemma notin_rest u : u \in K -> u \notin A2.
Proof. by move=> uK; apply/negP => /A2_rest; rewrite in_setD uK. Qed.

Local Lemma t_notin A : A \subset K -> t \notin A :|: A2.
Proof.
move=> sub; apply/negP; rewrite inE => /orP[/(subsetP sub)|/A2_rest]; by rewrite !inE (negbTE tD) ?andbF.
Qed.

Local Lemma event_01 A : 0 <= event (M A) S <= 1.
Proof.
case: HM => M0 M1; rewrite sumr_ge0 //= -(M1 A) [X in _ <= X](bigID S) /= ler_addl.
exact: sumr_ge0.
Qed.

Local Lemma stand_in A u : A \subset K -> u \in K -> u \notin A ->
  reaches B (x A) (y (u |: A)) /\ reaches B (y (u |: A)) (x A).
Proof.
move=> sub uK uA; have w : within B (M (t |: (A :|: A2))) (M (u |: (A :|: A2))).
  move: (uK); rewrite inE => /andP[_ /forallP /(_ (A :|: A2)) /implyP]; apply.
  by rewrite t_notin //= inE negb_or uA notin_rest.
case: HM => _ M1; rewrite -setUA; split; apply: within_reaches => //; exact: within_sym.
Qed.

Local Lemma few A : A \subset K -> (#|A| < k)%N -> reaches B (x A) (y A) /\ reaches B (y A) (x A).
Proof.
move=> sub small; have w : within B (M (t |: (A :|: A2))) (M (A :|: A2)).
  have [big|] := HB (setU11 t (A :|: A2)); last by rewrite setU1K // t_notin.
  suff : (#|[set u in t |: (A :|: A2) | blends B M t u]| <= k)%N by rewrite leqNgt big.
  apply: (@leq_trans #|t |: A|); last by rewrite cardsU1; case: (t \notin A) => //=; lia.
  apply: subset_leq_card; apply/subsetP => u; rewrite !inE => /andP[/or3P[->//|->|uA2] bl]; first by rewrite orbT.
  by have := A2_rest uA2; rewrite !inE bl andbT => /andP[/negbTE ->].
case: HM => _ M1; split; apply: within_reaches => //; exact: within_sym.
Qed.

Local Lemma reaches_average m (u v : {set I} -> R) m' (up : (m <= #|K|)%N) (up' : (m' <= #|K|)%N) :
  average K m u <= B * average K m' v ->
  average K m' (fun A => 1 - v A) <= B * average K m (fun A => 1 - u A) -> reaches B (average K m u) (average K m' v).
Proof. by move=> h1 h2; split=> //; rewrite -!average_compl. Qed.

Local Lemma excess_up : event (released (at_rate r K) (fun A1 => M (t |: (A1 :|: A2)))) S -
  s * event (released (at_rate r K) (fun A1 => M (A1 :|: A2))) S <= corners B s (more r #|K| k).
Proof.
rewrite /event !sampled_sum !sampled_count mulr_sumr -sumrB.
rewrite (eq_bigr (fun m => pmf r #|K| m * (a m - s * b' m))) => [|m _]; last by rewrite /event; ring.
apply: program_up => // [m|m|m mn|m mk mn].
- by apply: average_01 => A; exact: event_01.
- by apply: average_01 => A; exact: event_01.
- apply: reaches_average; rewrite ?(ltnW mn) //.
    by apply: average_grow => // A u /andP[sub _] uK uA; have [[]] := stand_in sub uK uA.
  by apply: average_shrink => // A u /andP[sub _] uK uA; have [[]] := stand_in sub uK uA.
by apply: average_le => A /andP[sub /eqP c]; have [|[]] := few sub; rewrite ?c.
Qed.

Local Lemma excess_down : event (released (at_rate r K) (fun A1 => M (A1 :|: A2))) S -
  s * event (released (at_rate r K) (fun A1 => M (t |: (A1 :|: A2)))) S <= corners B s (fewer r #|K| k).
Proof.
rewrite /event !sampled_sum !sampled_count mulr_sumr -sumrB.
rewrite (eq_bigr (fun m => pmf r #|K| m * (b' m - s * a m))) => [|m _]; last by rewrite /event; ring.
apply: program_down => // [m|m mn|m mk mn].
- by apply: average_01 => A; exact: event_01.
- case: (ltnP m #|K|) => mn'; last first.
    have /andP[a0 a1] := average_01 K m (fun A => event_01 (t |: (A :|: A2))).
    rewrite average_big ?ltnS //; split; first by rewrite mulr_ge0 ?(B_ge0 B_ge1).
    by rewrite subr0 mulr1 (le_trans _ B_ge1) // ler_subl_addr ler_addl.
  apply: reaches_average => //.
    by apply: average_shrink => // A u /andP[sub _] uK uA; have [_ []] := stand_in sub uK uA.
  by apply: average_grow => // A u /andP[sub _] uK uA; have [_ []] := stand_in sub uK uA.
apply: reaches_average => //.
  by apply: average_le => A /andP[sub /eqP c]; have [|_ []] := few sub; rewrite ?c.
by apply: average_le => A /andP[sub /eqP c]; have [|_ []] := few sub; rewrite ?c.
Qed.

End Given.

Local Lemma rest_of (A : {set I}) : (forall i, i \in A -> at_rate r (D :\: K) i != 0) -> forall i, i \in A -> i \in D :\: K.
Proof. by move=> h i /h; rewrite /at_rate; case: ifP; rewrite ?eqxx. Qed.

(* t surely in the table, against t not in it; everybody else there with probability r. *)
Theorem crowd_more : hockey s (released b (adding t M)) (released b M) <= corners B s (more r #|K| k).
Proof.
rewrite (eq_hockey _ (released_split _) (released_split _)).
apply: hockey_released => [|A2 hA]; first exact: rates_at r_01.
apply/hockey_events => S; rewrite -ler_subl_addl; exact: excess_up (rest_of hA).
Qed.

Theorem crowd_fewer : hockey s (released b M) (released b (adding t M)) <= corners B s (fewer r #|K| k).
Proof.
rewrite (eq_hockey _ (released_split _) (released_split _)).
apply: hockey_released => [|A2 hA]; first exact: rates_at r_01.
apply/hockey_events => S; rewrite -ler_subl_addl; exact: excess_down (rest_of hA).
Qed.

End Person.
End Blending.
