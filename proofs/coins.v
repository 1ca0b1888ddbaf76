(* Independent coins: everybody has a random value of their own, and a sample is the set of those whose coin fell well. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From crowdblend Require Import hockey.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ProductLaw.
Variables (R : realFieldType) (I : finType).

(* The law of everybody's values together, and the mean of a function of them. *)
Definition joint (V : finType) (w : I -> V -> R) (s : {ffun I -> V}) : R := \prod_i w i (s i).
Definition mean (V : finType) (w : I -> V -> R) (F : {ffun I -> V} -> R) : R := \sum_s joint w s * F s.

Lemma joint_ge0 (V : finType) (w : I -> V -> R) s : (forall i v, 0 <= w i v) -> 0 <= joint w s.
Proof. by move=> w0; apply: prodr_ge0 => i _. Qed.

Lemma joint_total (V : finType) (w : I -> V -> R) : (forall i, \sum_v w i v = 1) -> \sum_s joint w s = 1.
Proof. by move=> w1; rewrite -bigA_distr_bigA big1 // => i _. Qed.

Lemma eq_mean (V : finType) (w : I -> V -> R) F F' : F =1 F' -> mean w F = mean w F'.
Proof. by move=> h; apply: eq_bigr => s _; rewrite h. Qed.

(* Values computed from values, each person's from that person's. *)
Lemma mean_map (V U : finType) (g : V -> U) (w : I -> V -> R) (w' : I -> U -> R) F :
  (forall i u, w' i u = \sum_(v | g v == u) w i v) ->
  mean w (fun s => F [ffun i => g (s i)]) = mean w' F.
Proof.
move=> h; rewrite /mean (partition_big (fun s : {ffun I -> V} => [ffun i => g (s i)]) xpredT) //=.
apply: eq_bigr => u _; rewrite (eq_bigr (fun s => joint w s * F u)); last by move=> s /eqP ->.
rewrite -mulr_suml; congr (_ * _); rewrite /joint (eq_bigr _ (fun i _ => h i (u i))) bigA_distr_big_dep.
apply: eq_bigl => s; apply/eqP/familyP => [<- i|hs]; first by rewrite unfold_in ffunE.
by apply/ffunP => i; rewrite ffunE; have := hs i; rewrite unfold_in => /eqP.
Qed.

(* Two values in turn, the law of the second depending on the first. *)
Lemma mean_pair (V U : finType) (w1 : I -> V -> R) (w2 : I -> V -> U -> R) F :
  mean (fun i (x : V * U) => w1 i x.1 * w2 i x.1 x.2) F =
  mean w1 (fun s => mean (fun i => w2 i (s i)) (fun s' => F [ffun i => (s i, s' i)])).
Proof.
pose f (x : {ffun I -> V} * {ffun I -> U}) : {ffun I -> V * U} := [ffun i => (x.1 i, x.2 i)].
pose g (s : {ffun I -> V * U}) := ([ffun i => (s i).1] : {ffun I -> V}, [ffun i => (s i).2] : {ffun I -> U}).
rewrite /mean (reindex f) /=; last first.
  exists g => [[s s'] _|s _]; rewrite /f /g /=; first by congr pair; apply/ffunP => i; rewrite !ffunE.
  by apply/ffunP => i; rewrite !ffunE -surjective_pairing.
rewrite -(pair_bigA _ (fun s s' => joint (fun i (x : V * U) => w1 i x.1 * w2 i x.1 x.2) (f (s, s')) * F (f (s, s')))) /=.
apply: eq_bigr => s _; rewrite mulr_sumr; apply: eq_bigr => s' _; rewrite mulrA; congr (_ * _).
by rewrite /joint -big_split /=; apply: eq_bigr => i _; rewrite ffunE.
Qed.

End ProductLaw.

Section Coins.
Variables (R : realFieldType) (I : finType).
Implicit Types (b : I -> R) (A : {set I}) (F : {set I} -> R) (t : I).

(* Each person i is in the sample with probability b i, independently. Whoever is not in the population has b i = 0. *)
Definition coins b A : R := \prod_i (if i \in A then b i else 1 - b i).
Definition sampled b F : R := \sum_A coins b A * F A.
Definition rates b := forall i, 0 <= b i <= 1.
(* Somebody is not in the population, and a population of people with one rate. *)
Definition without t b : I -> R := fun i => if i == t then 0 else b i.
Definition at_rate (r : R) (D : {set I}) : I -> R := fun i => if i \in D then r else 0.

Definition coin (b : I -> R) i (v : bool) : R := if v then b i else 1 - b i.

Lemma sampled_mean b F : sampled b F = mean (coin b) (fun s => F [set i | s i]).
Proof.
rewrite /sampled /mean (reindex (fun s : {ffun I -> bool} => [set i | s i])) /=; last first.
  exists (fun A => [ffun i => i \in A]) => [s _|A _]; first by apply/ffunP => i; rewrite ffunE inE.
  by apply/setP => i; rewrite inE ffunE.
by apply: eq_bigr => s _; congr (_ * _); apply: eq_bigr => i _; rewrite inE.
Qed.

Lemma coins_ge0 b A : rates b -> 0 <= coins b A.
Proof. by move=> h; apply: prodr_ge0 => i _; case/andP: (h i) => h0 h1; case: ifP; rewrite ?subr_ge0. Qed.

Lemma coins_total b : \sum_A coins b A = 1.
Proof.
have <- : sampled b (fun=> 1) = \sum_A coins b A by apply: eq_bigr => A _; rewrite mulr1.
rewrite sampled_mean /mean (eq_bigr (joint (coin b))) => [|s _]; last by rewrite mulr1.
by apply: joint_total => i; rewrite big_bool /= addrC subrK.
Qed.

Lemma coins_notin b A t : b t = 0 -> t \in A -> coins b A = 0.
Proof. by move=> h tA; rewrite /coins (bigD1 t) //= tA h mul0r. Qed.

Lemma eq_sampled b F F' : (forall A, F A = F' A) -> sampled b F = sampled b F'.
Proof. by move=> h; apply: eq_bigr => A _; rewrite h. Qed.

Lemma eq_rates b b' F : b =1 b' -> sampled b F = sampled b' F.
Proof. by move=> h; apply: eq_bigr => A _; congr (_ * _); apply: eq_bigr => i _; rewrite h. Qed.

Lemma sampled_const b x : sampled b (fun=> x) = x.
Proof. by rewrite /sampled -mulr_suml coins_total mul1r. Qed.

Lemma bool_pair (f : bool * bool -> R) (P : pred (bool * bool)) :
  \sum_(v | P v) f v = (if P (true, true) then f (true, true) else 0) + (if P (true, false) then f (true, false) else 0)
    + (if P (false, true) then f (false, true) else 0) + (if P (false, false) then f (false, false) else 0).
Proof.
rewrite big_mkcond (eq_bigr (fun v => if P (v.1, v.2) then f (v.1, v.2) else 0)) => [|[]//].
by rewrite -(pair_bigA _ (fun x y => if P (x, y) then f (x, y) else 0)) /= !big_bool /= addrA.
Qed.

Lemma two_coins (g : bool * bool -> bool) b b1 b2 F :
  (forall i u, coin b i u = \sum_(v | g v == u) coin b1 i v.1 * coin b2 i v.2) ->
  sampled b F = sampled b1 (fun A1 => sampled b2 (fun A2 => F [set i | g (i \in A1, i \in A2)])).
Proof.
move=> h; rewrite sampled_mean -(mean_map _ h).
rewrite (mean_pair (coin b1) (fun i _ => coin b2 i) (fun s => F [set i | [ffun i => g (s i)] i])) sampled_mean.
apply: eq_mean => s; rewrite sampled_mean; apply: eq_mean => s'; congr F; apply/setP => i.
by rewrite !inE !ffunE.
Qed.

(* Two independent samples together. *)
Lemma sampled_union b b1 b2 F : (forall i, 1 - b i = (1 - b1 i) * (1 - b2 i)) ->
  sampled b F = sampled b1 (fun A1 => sampled b2 (fun A2 => F (A1 :|: A2))).
Proof.
move=> h; rewrite (@two_coins (fun v => v.1 || v.2) b b1 b2) => [|i u].
  by apply: eq_sampled => A1; apply: eq_sampled => A2; congr F; apply/setP => i; rewrite !inE.
have hb : b i = 1 - (1 - b1 i) * (1 - b2 i) by rewrite -h subKr.
by rewrite bool_pair /coin; case: u => /=; rewrite ?h ?hb /=; ring.
Qed.

(* A sample of a sample. *)
Lemma sampled_inter b b1 b2 F : (forall i, b i = b1 i * b2 i) ->
  sampled b F = sampled b1 (fun A1 => sampled b2 (fun A2 => F (A1 :&: A2))).
Proof.
move=> h; rewrite (@two_coins (fun v => v.1 && v.2) b b1 b2) => [|i u].
  by apply: eq_sampled => A1; apply: eq_sampled => A2; congr F; apply/setP => i; rewrite !inE.
by rewrite bool_pair /coin; case: u => /=; rewrite ?h /=; ring.
Qed.

Lemma sampled_one (b1 : I -> R) t F : (forall i, i != t -> b1 i = 0) ->
  sampled b1 F = b1 t * F [set t] + (1 - b1 t) * F set0.
Proof.
move=> h; rewrite /sampled (bigD1 [set t]) //= (bigD1 set0) /=; last first.
  by apply/eqP => /setP /(_ t); rewrite !inE eqxx.
rewrite big1 ?addr0 => [|A /andP[A1 A0]].
  have t0 : forall i, i != t -> b1 i = 0 by [].
  have -> : coins b1 [set t] = b1 t.
    by rewrite /coins (bigD1 t) //= inE eqxx big1 ?mulr1 // => i it; rewrite inE (negbTE it) h ?subr0.
  have -> // : coins b1 set0 = 1 - b1 t.
  by rewrite /coins (bigD1 t) //= inE big1 ?mulr1 // => i it; rewrite inE h ?subr0.
case/set0Pn: A0 => i iA; case: (eqVneq i t) => it; last by rewrite (coins_notin (h i it) iA) mul0r.
case: (boolP [exists j, (j != t) && (j \in A)]) => [/existsP[j /andP[jt jA]]|/existsPn nj].
  by rewrite (coins_notin (h j jt) jA) mul0r.
case/negP: A1; apply/eqP/setP => j.
rewrite inE; case: (eqVneq j t) => [->|jt]; first by rewrite -it.
by have := nj j; rewrite jt /= => /negbTE.
Qed.

(* One person's coin apart from the others'. *)
Theorem sampled_person b t F :
  sampled b F = b t * sampled (without t b) (fun A => F (t |: A)) + (1 - b t) * sampled (without t b) F.
Proof.
rewrite (@sampled_union b (fun i => if i == t then b i else 0) (without t b)) => [|i]; last first.
  by rewrite /without; case: ifP => _; ring.
rewrite (@sampled_one _ t) => [|i /negbTE -> //]; rewrite eqxx; congr (_ * _ + _ * _).
by apply: eq_sampled => A; rewrite set0U.
Qed.

Lemma sampled_sum (O : finType) b (M : {set I} -> O -> R) (P : pred O) :
  \sum_(o | P o) sampled b (fun A => M A o) = sampled b (fun A => \sum_(o | P o) M A o).
Proof. by rewrite exchange_big /=; apply: eq_bigr => A _; rewrite mulr_sumr. Qed.

End Coins.

(* A mechanism gives every set of people, whose data are fixed, a law of outcomes. *)
Section Mechanisms.
Variables (R : realFieldType) (I O : finType).
Implicit Types (M : {set I} -> O -> R) (b : I -> R) (t : I).

Definition mechanism M := (forall A o, 0 <= M A o) /\ (forall A, \sum_o M A o = 1).
(* What is published of a sample, and of the same sample with t put into it. *)
Definition released b M : O -> R := fun o => sampled b (fun A => M A o).
Definition adding t M : {set I} -> O -> R := fun A => M (t |: A).

Lemma released_ge0 b M : mechanism M -> rates b -> forall o, 0 <= released b M o.
Proof. by case=> M0 _ h o; apply: sumr_ge0 => A _; rewrite mulr_ge0 ?coins_ge0. Qed.

Lemma released_total b M : mechanism M -> \sum_o released b M o = 1.
Proof.
case=> _ M1; rewrite sampled_sum -[RHS](sampled_const b 1); exact: eq_sampled.
Qed.

Lemma released_person b M t :
  released b M =1 mix (b t) (released (without t b) (adding t M)) (released (without t b) M).
Proof. by move=> o; rewrite /released (sampled_person b t). Qed.

Lemma rates_without b t : rates b -> rates (without t b).
Proof. by move=> h i; rewrite /without; case: ifP => // _; rewrite lexx ler01. Qed.

Lemma rates_at (r : R) (D : {set I}) : 0 <= r <= 1 -> rates (at_rate r D).
Proof. by move=> h i; rewrite /at_rate; case: ifP => // _; rewrite lexx ler01. Qed.

(* A bound for every set of people who can be sampled is a bound for what is published. *)
Lemma hockey_released b (M N : {set I} -> O -> R) c d : rates b ->
  (forall A : {set I}, (forall i, i \in A -> b i != 0) -> hockey c (M A) (N A) <= d) ->
  hockey c (released b M) (released b N) <= d.
Proof.
move=> hb h; apply: le_trans (hockey_convex _ _ _ (fun A => coins_ge0 A hb)) _.
rewrite -[d](sampled_const b) /sampled; apply: ler_sum => A _.
case: (boolP [exists i, (i \in A) && (b i == 0)]) => [/existsP[i /andP[iA /eqP bi]]|/existsPn ne].
  by rewrite (coins_notin bi iA) !mul0r.
by rewrite ler_wpmul2l ?coins_ge0 ?h // => i iA; have := ne i; rewrite iA.
Qed.

End Mechanisms.
