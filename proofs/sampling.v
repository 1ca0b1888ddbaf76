(* Sampling in front of a mechanism: amplification, lower rates, and mechanisms that hide people in crowds. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial linear_program averages crowds.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mixtures.
Variables (R : realFieldType) (O : finType) (P Q : O -> R) (b c : R).
Hypotheses (P0 : forall o, 0 <= P o) (Q0 : forall o, 0 <= Q o) (b_gt0 : 0 < b) (b_le1 : b <= 1) (c_ge1 : 1 <= c).

Local Lemma b_ge0 : 0 <= b. Proof. exact: ltW. Qed.
Local Lemma c_ge0 : 0 <= c. Proof. exact: le_trans ler01 c_ge1. Qed.

(* The factors at which the divergences of P and Q make those of their mixture, and the weight of the second. *)
Definition factor_up : R := 1 + (c - 1) / b.
Definition gain : R := 1 - c * (1 - b).
Definition factor_down : R := c * b / gain.

Lemma gain_le : gain <= b.
Proof.
apply: (@le_diff _ _ _ ((c - 1) * (1 - b))); last by rewrite /gain; ring.
by rewrite mulr_ge0 ?subr_ge0.
Qed.

Lemma factor_up_ge (B : R) : 1 + b * (B - 1) <= c -> B <= factor_up.
Proof.
move=> h; rewrite /factor_up; apply: (@le_diff _ _ _ ((c - (1 + b * (B - 1))) / b)).
  by rewrite divr_ge0 ?subr_ge0 ?b_ge0.
by field; rewrite gt_eqF.
Qed.

Lemma factor_down_ge (B : R) : 1 <= B -> 1 + b * (B - 1) <= c -> 0 < gain -> B <= factor_down.
Proof.
move=> B1 h g0; rewrite /factor_down ler_pdivl_mulr // /gain.
have Bb : 0 <= b + B * (1 - b) by rewrite addr_ge0 ?b_ge0 // mulr_ge0 ?subr_ge0 // (le_trans ler01 B1).
apply: (@le_diff _ _ _ ((c - (1 + b * (B - 1))) * (b + B * (1 - b)) + b * (1 - b) * (B - 1) ^+ 2)); last by ring.
by rewrite addr_ge0 // mulr_ge0 ?subr_ge0 ?mulr_ge0 ?b_ge0 ?exprn_ge0 ?subr_ge0.
Qed.

Lemma mixture_up d : hockey factor_up P Q <= d -> hockey c (mix b P Q) Q <= b * d.
Proof. by move=> h; rewrite hockey_mix_up // ler_wpmul2l ?b_ge0. Qed.

Lemma mixture_down d : (0 < gain -> hockey factor_down Q P <= d) -> hockey c Q (mix b P Q) <= pos gain * d.
Proof.
move=> h; case: (ltP 0 gain) => g; last by rewrite (pos_eq0 g) mul0r hockey_mix_down0 ?b_ge0 ?c_ge0.
by rewrite hockey_mix_down // (pos_id (ltW g)) ler_wpmul2l ?(ltW g) ?h.
Qed.

End Mixtures.

Section Sampling.
Variables (R : realFieldType) (I O : finType) (M : {set I} -> O -> R).
Hypothesis HM : mechanism M.
Implicit Types (b : I -> R) (t : I) (c d : R) (A D : {set I}).

Lemma adding_mechanism t : mechanism (adding t M).
Proof. by case: HM => h0 h1; split=> [A o|A]; rewrite /adding. Qed.

Lemma without_notin b t A : (forall i, i \in A -> without t b i != 0) -> t \notin A.
Proof. by move=> h; apply/negP => /h; rewrite /without eqxx eqxx. Qed.

(* One person more or less, for a bound of the mechanism with the person surely in the table. *)
Theorem person_more b t c d : rates b -> 0 < b t -> 1 <= c ->
  hockey (factor_up (b t) c) (released (without t b) (adding t M)) (released (without t b) M) <= d ->
  hockey c (released b M) (released (without t b) M) <= b t * d.
Proof. by move=> hb bt c1 h; rewrite (eq_hockey _ (released_person b M t) (fun=> erefl)) mixture_up. Qed.

Theorem person_fewer b t c d : rates b -> 0 < b t -> 1 <= c ->
  (0 < gain (b t) c ->
   hockey (factor_down (b t) c) (released (without t b) M) (released (without t b) (adding t M)) <= d) ->
  hockey c (released (without t b) M) (released b M) <= pos (gain (b t) c) * d.
Proof.
move=> hb bt c1 h; rewrite (eq_hockey _ (fun=> erefl) (released_person b M t)).
have r0 := rates_without t hb; apply: mixture_down => //; apply: released_ge0 => //; exact: adding_mechanism.
Qed.

(* Sampling alone hides a person up to the rate. *)
Lemma hockey_le1 (p q : O -> R) c : (forall o, 0 <= p o) -> (forall o, 0 <= q o) -> \sum_o p o = 1 -> 0 <= c -> hockey c p q <= 1.
Proof.
move=> p0 q0 <- c0; apply: ler_sum => o _; apply: pos_le => //.
by rewrite ler_subl_addr ler_addl mulr_ge0.
Qed.

Theorem rate_alone b t c : rates b -> 0 < b t -> 1 <= c -> close c (b t) (released b M) (released (without t b) M).
Proof.
move=> hb bt c1; have r0 := rates_without t hb; have c0 : 0 <= c by apply: le_trans c1; exact: ler01.
have [bt0 bt1] := andP (hb t).
have [Q0 Q1] := (released_ge0 HM r0, released_total (without t b) HM).
have [P0 P1] := (released_ge0 (adding_mechanism t) r0, released_total (without t b) (adding_mechanism t)).
split.
  rewrite -[X in _ <= X]mulr1; apply: person_more => //; apply: hockey_le1 => //.
  by rewrite addr_ge0 ?ler01 // divr_ge0 ?subr_ge0.
apply: (@le_trans _ _ (pos (gain (b t) c) * 1)); last first.
  by rewrite mulr1; apply: pos_le => //; exact: gain_le.
apply: person_fewer => // g; apply: hockey_le1 => //.
by rewrite divr_ge0 ?mulr_ge0 // ltW.
Qed.

(* Amplification by sampling, for one person more or less. Everybody may have a rate of their own. *)
Theorem amplification b t c d : rates b -> 0 < b t -> 1 <= c ->
  (forall A, t \notin A -> close c d (M (t |: A)) (M A)) ->
  close (1 + b t * (c - 1)) (b t * d) (released b M) (released (without t b) M).
Proof.
move=> hb bt c1 h; have r0 := rates_without t hb; have [bt0 bt1] := andP (hb t).
have c1' : 1 <= 1 + b t * (c - 1) by rewrite ler_addl mulr_ge0 // subr_ge0.
have up : hockey c (released (without t b) (adding t M)) (released (without t b) M) <= d.
  by apply: hockey_released => // A /without_notin tA; case: (h A tA).
have down : hockey c (released (without t b) M) (released (without t b) (adding t M)) <= d.
  by apply: hockey_released => // A /without_notin tA; case: (h A tA).
have d0 : 0 <= d := le_trans (hockey_ge0 _ _ _) up.
have P0 := released_ge0 (adding_mechanism t) r0; have Q0 := released_ge0 HM r0.
split.
  apply: person_more => //; apply: le_trans up; apply: hockey_antimono => //; exact: factor_up_ge.
apply: (@le_trans _ _ (pos (gain (b t) (1 + b t * (c - 1))) * d)); last first.
  by rewrite ler_wpmul2r //; apply: pos_le => //; exact: gain_le.
apply: person_fewer => // g; apply: le_trans down; apply: hockey_antimono => //; exact: factor_down_ge.
Qed.

Lemma without_at (r : R) D t : without t (at_rate r D) =1 at_rate r (D :\ t).
Proof. by move=> i; rewrite /without /at_rate !inE; case: eqP. Qed.

Lemma eq_released b b' : b =1 b' -> released b M =1 released b' M.
Proof. by move=> h o; exact: eq_rates. Qed.

(* Everybody at one rate: a population D, and the same without t. *)
Corollary amplification_at (r : R) D t c d : 0 < r <= 1 -> t \in D -> 1 <= c ->
  (forall A, t \notin A -> close c d (M (t |: A)) (M A)) ->
  close (1 + r * (c - 1)) (r * d) (released (at_rate r D) M) (released (at_rate r (D :\ t)) M).
Proof.
move=> /andP[r0 r1] tD c1 h; have := @amplification (at_rate r D) t c d.
have -> : at_rate r D t = r by rewrite /at_rate tD.
have e := eq_released (without_at r D t).
rewrite /close !(eq_hockey _ (fun=> erefl) e) !(eq_hockey _ e (fun=> erefl)); apply=> //.
by apply: rates_at; rewrite r1 ltW.
Qed.

End Sampling.

(* A smaller sample is a sample of a sample. *)
Section LowerRate.
Variables (R : realFieldType) (I O : finType) (M : {set I} -> O -> R).
Hypothesis HM : mechanism M.

Lemma sampled_sure (A : {set I}) (F : {set I} -> R) : sampled (fun i => (i \in A)%:R) F = F A.
Proof.
rewrite /sampled (bigD1 A) //= big1 ?addr0 => [|A' ne].
  by rewrite /coins big1 ?mul1r // => i _; case: ifP => iA; rewrite iA ?subr0.
case: (boolP [exists i, (i \in A') != (i \in A)]) => [/existsP[i ne']|/existsPn eq].
  rewrite /coins (bigD1 i) //=; move: ne'; case: (i \in A'); case: (i \in A) => //= _; rewrite ?subrr !mul0r //.
by case/negP: ne; apply/eqP/setP => i; have := eq i; rewrite negbK => /eqP.
Qed.

Lemma sample_of_sample (r1 r2 : R) (D : {set I}) (F : {set I} -> R) :
  sampled (at_rate (r2 * r1) D) F = sampled (at_rate r2 D) (fun A => sampled (at_rate r1 A) F).
Proof.
rewrite (@sampled_inter _ _ _ (at_rate r2 D) (fun=> r1)) => [|i]; last by rewrite /at_rate; case: ifP; rewrite ?mul0r.
apply: eq_sampled => A; rewrite (@sampled_inter _ _ (at_rate r1 A) (fun i => (i \in A)%:R) (fun=> r1)) ?sampled_sure //.
by move=> i; rewrite /at_rate; case: ifP; rewrite ?mul1r ?mul0r.
Qed.

Theorem lower_rate (r1 r2 c d : R) (D : {set I}) (t : I) : 0 < r1 -> r1 <= 1 -> 0 < r2 -> r2 <= r1 -> 1 <= c -> t \in D ->
  (forall (A : {set I}) (u : I), u \in A -> close c d (released (at_rate r1 A) M) (released (at_rate r1 (A :\ u)) M)) ->
  close (1 + r2 / r1 * (c - 1)) (r2 / r1 * d) (released (at_rate r2 D) M) (released (at_rate r2 (D :\ t)) M).
Proof.
move=> r10 r11 r20 r21 c1 tD h; set q := r2 / r1.
have e A : released (at_rate r2 A) M =1 released (at_rate q A) (fun A' => released (at_rate r1 A') M).
  move=> o; rewrite /released -sample_of_sample /q divfK //; exact: lt0r_neq0.
have HM' : mechanism (fun A' => released (at_rate r1 A') M).
  split=> [A o|A]; last exact: released_total.
  by apply: released_ge0 => //; apply: rates_at; rewrite r11 ltW.
rewrite /close !(eq_hockey _ (e _) (e _)); apply: (amplification_at HM') => //.
  by rewrite divr_gt0 // ler_pdivr_mulr // mul1r.
by move=> A tA; have := h (t |: A) t (setU11 _ _); rewrite setU1K.
Qed.

End LowerRate.

(* Any mechanism that hides people in crowds, on a sample at rate r of a population D, with t and without. *)
Section SampledCrowds.
Variables (R : realFieldType) (I O : finType) (M : {set I} -> O -> R) (B r c : R) (k : nat) (D : {set I}) (t : I).
Hypotheses (HM : mechanism M) (B_ge1 : 1 <= B) (HB : crowd_blending k.+1 B M) (tD : t \in D).
Hypotheses (r_gt0 : 0 < r) (r_lt1 : r < 1) (c_ge : 1 + r * (B - 1) <= c).

Local Notation up := (factor_up r c).
Local Notation down := (factor_down r c).
Local Notation with_t := (released (at_rate r D) M).
Local Notation without_t := (released (at_rate r (D :\ t)) M).

Local Lemma c_ge1' : 1 <= c.
Proof. by apply: le_trans c_ge; rewrite ler_addl mulr_ge0 ?subr_ge0 // ltW. Qed.

Local Lemma at_t : at_rate r D t = r. Proof. by rewrite /at_rate tD. Qed.
Local Lemma rates_D : rates (at_rate r D). Proof. by apply: rates_at; rewrite !ltW. Qed.
Local Lemma without_e (N : {set I} -> O -> R) : released (without t (at_rate r D)) N =1 released (at_rate r (D :\ t)) N.
Proof. exact: eq_released (without_at r D t). Qed.

Theorem sampled_crowds_up g1 g2 : (forall n, more r n k (up / B) <= g1) -> (forall n, more r n k (up * B) <= g2) ->
  hockey c with_t without_t <= r * ((B * g1 + g2) / (1 + B)).
Proof.
move=> h1 h2; have := @person_more _ _ _ M (at_rate r D) t c ((B * g1 + g2) / (1 + B)) rates_D.
rewrite at_t !(eq_hockey _ (without_e _) (without_e _)) (eq_hockey _ (fun=> erefl) (without_e _)); apply=> //; first exact: c_ge1'.
have tD' : t \notin D :\ t by rewrite !inE eqxx.
have s_ge := factor_up_ge r_gt0 c_ge.
apply: le_trans (crowd_more HM B_ge1 HB tD' r_gt0 r_lt1 s_ge) _.
rewrite /corners ler_wpmul2r ?invr_ge0 ?(ltW (B1_gt0 B_ge1)) // ler_add // ler_wpmul2l ?(B_ge0 B_ge1) //.
Qed.

Theorem sampled_crowds_down g1 g2 :
  (0 < gain r c -> (forall n, fewer r n k (down / B) <= g1) /\ (forall n, fewer r n k (down * B) <= g2)) ->
  hockey c without_t with_t <= pos (gain r c) * ((B * g1 + g2) / (1 + B)).
Proof.
move=> h; have := @person_fewer _ _ _ M HM (at_rate r D) t c ((B * g1 + g2) / (1 + B)) rates_D.
rewrite at_t !(eq_hockey _ (without_e _) (without_e _)) (eq_hockey _ (without_e _) (fun=> erefl)); apply=> //; first exact: c_ge1'.
move=> g; have [h1 h2] := h g; have tD' : t \notin D :\ t by rewrite !inE eqxx.
have s_ge := factor_down_ge r_gt0 (ltW r_lt1) B_ge1 c_ge g.
apply: le_trans (crowd_fewer HM B_ge1 HB tD' r_gt0 r_lt1 s_ge) _.
rewrite /corners ler_wpmul2r ?invr_ge0 ?(ltW (B1_gt0 B_ge1)) // ler_add // ler_wpmul2l ?(B_ge0 B_ge1) //.
Qed.

Local Lemma div_ge1 s : B <= s -> 1 <= s / B. Proof. by move=> h; rewrite ler_pdivl_mulr ?mul1r // B_gt0. Qed.
Local Lemma mul_ge1 s : B <= s -> 1 <= s * B.
Proof. by move=> h; apply: le_trans (le_trans B_ge1 h) _; rewrite ler_pemulr // (le_trans (B_ge0 B_ge1)). Qed.

(* The rule blending.sharp: each half at its own worst number of others. *)
Theorem blending_sharp_up n1 n2 : more_peak r k (up / B) n1 -> more_peak r k (up * B) n2 ->
  hockey c with_t without_t <= r * ((B * more_at r n1 k (up / B) + more_at r n2 k (up * B)) / (1 + B)).
Proof.
move=> p1 p2; have s_ge := factor_up_ge r_gt0 c_ge.
by apply: sampled_crowds_up => n; apply: more_worst => //; [exact: div_ge1 | exact: mul_ge1].
Qed.

Theorem blending_sharp_down n1 n2 : (0 < gain r c -> fewer_peak r k (down / B) n1 /\ fewer_peak r k (down * B) n2) ->
  hockey c without_t with_t <=
  pos (gain r c) * ((B * fewer_at r n1 k (down / B) + fewer_at r n2 k (down * B)) / (1 + B)).
Proof.
move=> p; apply: sampled_crowds_down => g; have [p1 p2] := p g.
have s_ge := factor_down_ge r_gt0 (ltW r_lt1) B_ge1 c_ge g.
by split=> n; apply: fewer_worst => //; [exact: div_ge1 | exact: mul_ge1].
Qed.

End SampledCrowds.

(* The rule suppression.exact: mechanisms in which members of a crowd are alike, at the one worst number of others. *)
Section Exact.
Variables (R : realFieldType) (I O : finType) (M : {set I} -> O -> R) (r c : R) (k : nat) (D : {set I}) (t : I).
Hypotheses (HM : mechanism M) (HB : crowd_blending k.+1 1 M) (tD : t \in D).
Hypotheses (r_gt0 : 0 < r) (r_lt1 : r < 1) (c_ge1 : 1 <= c).

Local Lemma half (x : R) : (1 * x + x) / (1 + 1) = x.
Proof. by rewrite mul1r -mulr2n -[1 + 1]/(2%:R) -mulr_natr mulfK // pnatr_eq0. Qed.

Local Lemma c_ge' : 1 + r * (1 - 1) <= c. Proof. by rewrite subrr mulr0 addr0. Qed.

Theorem exact_up n0 : more_peak r k (factor_up r c) n0 ->
  hockey c (released (at_rate r D) M) (released (at_rate r (D :\ t)) M) <= r * more_at r n0 k (factor_up r c).
Proof.
move=> pk; have s1 : 1 <= factor_up r c by apply: factor_up_ge => //; exact: c_ge'.
have worst := more_worst r_gt0 r_lt1 s1 pk; move: (more_at r n0 k (factor_up r c)) worst => g worst.
rewrite -[g]half; apply: (@sampled_crowds_up _ _ _ M 1 r c k D t) => //; first exact: c_ge'.
  by move=> n; rewrite divr1.
by move=> n; rewrite mulr1.
Qed.

Theorem exact_down n0 : (0 < gain r c -> fewer_peak r k (factor_down r c) n0) ->
  hockey c (released (at_rate r (D :\ t)) M) (released (at_rate r D) M) <= pos (gain r c) * fewer_at r n0 k (factor_down r c).
Proof.
move=> pk; have worst : 0 < gain r c -> forall n, fewer r n k (factor_down r c) <= fewer_at r n0 k (factor_down r c).
  move=> g; apply: fewer_worst => //; last exact: pk.
  by apply: factor_down_ge => //; [exact: ltW | exact: c_ge'].
move: (fewer_at r n0 k (factor_down r c)) worst => g worst.
rewrite -[g]half; apply: (@sampled_crowds_down _ _ _ M 1 r c k D t) => //; first exact: c_ge'.
by move=> gp; rewrite divr1 mulr1; split; exact: worst.
Qed.

End Exact.
