(* Parts of one sample: everybody goes to one of m parts or to none, and on every part runs a mechanism of any kind, which
   may depend on what was published of the parts before it (the rule programme.parts). *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Update.
Variables (I V : finType).
Implicit Types (s : {ffun I -> V}) (t : I) (v : V).

Definition put s t v : {ffun I -> V} := [ffun i => if i == t then v else s i].

Lemma put_at s t v : put s t v t = v. Proof. by rewrite ffunE eqxx. Qed.
Lemma put_off s t v i : i != t -> put s t v i = s i. Proof. by rewrite ffunE => /negbTE ->. Qed.
Lemma put_put s t v v' : put (put s t v) t v' = put s t v'.
Proof. by apply/ffunP => i; rewrite !ffunE; case: (i == t). Qed.
Lemma put_id s t v : s t = v -> put s t v = s.
Proof. by move=> <-; apply/ffunP => i; rewrite ffunE; case: eqP => // ->. Qed.
End Update.

Lemma eq_law (R : realFieldType) (I V : finType) (w w' : I -> V -> R) F :
  (forall i v, w i v = w' i v) -> mean w F = mean w' F.
Proof. by move=> h; apply: eq_bigr => s _; congr (_ * _); apply: eq_bigr => i _; rewrite h. Qed.

(* One person's value apart from the others'. *)
Lemma mean_person (R : realFieldType) (I V : finType) (w w' : I -> V -> R) (t : I) (v0 : V) F :
  (forall i v, i != t -> w' i v = w i v) -> (forall v, w' t v = (v == v0)%:R) ->
  mean w F = \sum_v w t v * mean w' (fun s => F (put s t v)).
Proof.
move=> off at_t; rewrite /mean (partition_big (fun s : {ffun I -> V} => s t) xpredT) //=; apply: eq_bigr => v _.
rewrite mulr_sumr [RHS](bigID (fun s : {ffun I -> V} => s t == v0)) /= [X in _ = _ + X]big1 ?addr0; last first.
  by move=> s /negbTE e; rewrite /joint (bigD1 t) //= at_t e !mul0r mulr0.
rewrite (reindex_onto (fun s => put s t v) (fun s => put s t v0)) => [|s /eqP e]; last by rewrite put_put put_id.
apply: eq_big => [s|s /andP[_ /eqP e]].
  rewrite put_at eqxx put_put /=; apply/eqP/eqP => [<-|e]; [exact: put_at | exact: put_id].
rewrite mulrA; congr (_ * _); rewrite /joint (bigD1 t) //= [in RHS](bigD1 t) //= put_at at_t.
have -> : s t = v0 by rewrite -e put_put put_at.
rewrite eqxx mul1r; congr (_ * _); apply: eq_bigr => i it; by rewrite put_off // off.
Qed.

(* Kernels in turn, each depending on the outcomes before it: the sums multiply. *)
Section Chain.
Variables (R : realFieldType) (m : nat) (O : finType) (K : 'I_m -> {ffun 'I_m -> O} -> O -> R) (G : 'I_m -> R) (o0 : O).
Implicit Types (y : {ffun 'I_m -> O}) (i : 'I_m).
Hypotheses (K0 : forall i y o, 0 <= K i y o) (KG : forall i y, \sum_o K i y o <= G i).
Hypothesis causal : forall i y y' o, (forall j : 'I_m, (j < i)%N -> y j = y' j) -> K i y o = K i y' o.

Definition pinned (l : nat) y := [forall i : 'I_m, (l <= i)%N ==> (y i == o0)].
Definition upto (l : nat) : R := \sum_(y | pinned l y) \prod_(i : 'I_m | (i < l)%N) K i y (y i).

Local Lemma pinned_put l i y o : val i = l -> pinned l y -> pinned l.+1 (put y i o).
Proof.
move=> il /forallP p; apply/forallP => j; apply/implyP => lj; rewrite put_off ?(implyP (p j)) ?(ltnW lj) //.
by rewrite -val_eqE il neq_ltn lj orbT.
Qed.

Local Lemma upto_step l i : val i = l -> upto l.+1 <= G i * upto l.
Proof.
move=> il; rewrite /upto (partition_big (fun y => put y i o0) (pinned l)) /=; last first.
  move=> y /forallP p; apply/forallP => j; apply/implyP => lj; rewrite ffunE; case: (eqVneq j i) => // ji.
  by apply: (implyP (p j)); rewrite ltn_neqAle lj andbT -il eq_sym val_eqE.
rewrite mulr_sumr; apply: ler_sum => y py.
have yi : y i = o0 by have /forallP/(_ i) := py; rewrite il leqnn => /eqP.
rewrite (reindex_onto (fun o => put y i o) (fun y' : {ffun 'I_m -> O} => y' i)) /=; last first.
  by move=> y' /andP[_ /eqP <-]; rewrite put_put put_id.
apply: (@le_trans _ _ (\sum_o \prod_(j : 'I_m | (j < l)%N) K j y (y j) * K i y o)).
  rewrite big_mkcond /=; apply: ler_sum => o _; case: ifP => _; last by rewrite mulr_ge0 // prodr_ge0.
  rewrite (bigD1 i) ?il //= put_at mulrC (@causal i (put y i o) y) => [|j ji]; last by rewrite put_off // neq_ltn ji.
  rewrite ler_wpmul2r //.
  rewrite (eq_bigl (fun j : 'I_m => (j < l)%N)) => [|j]; last by rewrite ltnS leq_eqVlt andbC -val_eqE il; case: ltngtP.
  rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => j jl.
  have ji : (j < i)%N by rewrite il.
  rewrite put_off ?neq_ltn ?ji // (@causal j (put y i o) y) // => j' jj'.
  by rewrite put_off // neq_ltn (ltn_trans jj' ji).
by rewrite -mulr_sumr mulrC ler_wpmul2r // prodr_ge0.
Qed.

Lemma chain : \sum_y \prod_i K i y (y i) <= \prod_i G i.
Proof.
have G0 i : 0 <= G i by apply: le_trans (KG i [ffun=> o0]); rewrite sumr_ge0.
have upto_le l : (l <= m)%N -> upto l <= \prod_(i : 'I_m | (i < l)%N) G i.
  elim: l => [|l IH] lm.
    rewrite [X in _ <= X]big_pred0 // /upto (eq_bigl (pred1 [ffun=> o0])) ?big_pred1_eq ?big_pred0 // => y.
    apply/forallP/eqP => [h|-> i]; last by rewrite ffunE eqxx.
    by apply/ffunP => i; rewrite ffunE; have := h i => /eqP.
  apply: le_trans (upto_step (i := Ordinal lm) erefl) _; rewrite (bigD1 (Ordinal lm)) //= ler_wpmul2l //.
  apply: le_trans (IH (ltnW lm)) _; rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigl => i.
  by rewrite -val_eqE /=; lia.
have := upto_le m (leqnn m); rewrite /upto (eq_bigl xpredT) => [|y]; last first.
  by apply/forallP => i; rewrite leqNgt ltn_ord.
rewrite (eq_bigr (fun y => \prod_i K i y (y i))) => [|y _]; last by apply: eq_bigl => i; rewrite ltn_ord.
by rewrite [X in _ <= X -> _](eq_bigl xpredT) // => i; rewrite ltn_ord.
Qed.

End Chain.

Section Parts.
Variables (R : realFieldType) (I O : finType) (m : nat).
(* The mechanism of part j: given who is in the part and what was published before, the law of its outcome. *)
Variable M : 'I_m -> {set I} -> {ffun 'I_m -> O} -> O -> R.
Hypotheses (M0 : forall j A y o, 0 <= M j A y o) (M1 : forall j A y, \sum_o M j A y o = 1).
Hypothesis causal : forall (j : 'I_m) A (y y' : {ffun 'I_m -> O}) o,
  (forall i : 'I_m, (i < j)%N -> y i = y' i) -> M j A y o = M j A y' o.
(* The probability of part j, for everybody in the population, and of some part. *)
Variable beta : 'I_m -> R.
Hypothesis beta0 : forall j, 0 <= beta j.
Local Notation b := (\sum_j beta j).
Hypotheses (b_gt0 : 0 < b) (b_lt1 : b < 1).
Implicit Types (D N : {set I}) (t x : I) (j : 'I_m) (y : {ffun 'I_m -> O}) (s : {ffun I -> option 'I_m}).

Definition goes D x (v : option 'I_m) : R :=
  if x \in D then (if v is Some j then beta j else 1 - b) else (v == None)%:R.
Definition part s j : {set I} := [set x | s x == Some j].
(* What is published of all parts, given who is in which, and of a population D. *)
Definition outcomes s y : R := \prod_j M j (part s j) y (y j).
Definition programme D y : R := mean (goes D) (fun s => outcomes s y).

Lemma goes_ge0 D x v : 0 <= goes D x v.
Proof. by rewrite /goes; case: ifP => _; [case: v => [j|] //; rewrite subr_ge0 ltW | exact: ler0n]. Qed.

Lemma option_sum (F : option 'I_m -> R) : \sum_v F v = F None + \sum_j F (Some j).
Proof. by rewrite (bigD1 None) //=; congr (_ + _); rewrite (reindex_omap Some id) //= => [|[]//]; apply: eq_bigl => j; rewrite eqxx. Qed.

Section Person.
Variables (D : {set I}) (t : I).
Hypothesis tD : t \in D.
Local Notation D' := (D :\ t).

Definition placed j y : R := mean (goes D') (fun s => outcomes (put s t (Some j)) y).
Local Notation Q := (programme D').

Lemma put_none s y : mean (goes D') (fun s => outcomes (put s t None) y) = Q y.
Proof.
apply: eq_bigr => s' _; case: (eqVneq (s' t) None) => [e|ne]; first by rewrite put_id.
by rewrite /joint (bigD1 t) //= /goes !inE eqxx /= (negbTE ne) !mul0r.
Qed.

Lemma programme_person y : programme D y = (1 - b) * Q y + \sum_j beta j * placed j y.
Proof.
rewrite /programme (@mean_person _ _ _ (goes D) (goes D') t None) => [|x v xt|v]; last first.
- by rewrite /goes !inE eqxx.
- by rewrite /goes !inE xt.
by rewrite option_sum /goes tD put_none //; exact: [ffun=> None].
Qed.

(* The chance of being in part j for whoever is in no other part. *)
Definition rest_rate j : R := beta j / (1 - b + beta j).

Section OnePart.
Variable j : 'I_m.
Local Notation r := (rest_rate j).

Lemma rest_gt0 : 0 < 1 - b + beta j.
Proof. by rewrite ltr_paddr // subr_gt0. Qed.

Lemma rest_01 : 0 <= r <= 1.
Proof.
by rewrite divr_ge0 ?(ltW rest_gt0) //= ler_pdivr_mulr ?rest_gt0 // mul1r ler_addr subr_ge0 ltW.
Qed.

(* Who is in which other part, and then who of the rest is in part j. *)
Definition others x (v : option 'I_m) : R :=
  if x \in D' then (if v is Some i then (if i == j then 0 else beta i) else 1 - b + beta j) else (v == None)%:R.
Definition unplaced s : {set I} := [set x in D' | s x == None].

Lemma two_steps (F : {ffun I -> option 'I_m} -> R) : mean (goes D') F =
  mean others (fun s => sampled (at_rate r (unplaced s)) (fun A => F [ffun x => if x \in A then Some j else s x])).
Proof.
pose w2 x (v : option 'I_m) (c : bool) : R := let q := if (x \in D') && (v == None) then r else 0 in if c then q else 1 - q.
pose g (v : option 'I_m * bool) := if v.2 then Some j else v.1.
rewrite -(@mean_map _ _ _ _ g (fun x (v : option 'I_m * bool) => others x v.1 * w2 x v.1 v.2)) => [|x u].
  rewrite (mean_pair others w2); apply: eq_mean => s; rewrite sampled_mean.
  rewrite (@eq_law _ _ _ _ (coin (at_rate r (unplaced s)))) => [|x c]; last by rewrite /w2 /coin /at_rate !inE.
  by apply: eq_mean => s'; congr F; apply/ffunP => x; rewrite !ffunE /= inE.
have -> : \sum_(v | g v == u) others x v.1 * w2 x v.1 v.2 =
    (if Some j == u then others x None * w2 x None true else 0) + others x u * w2 x u false.
  rewrite big_mkcond -(pair_bigA _ (fun v c => if g (v, c) == u then others x v * w2 x v c else 0)) /=.
  rewrite (eq_bigr (fun v => (if Some j == u then others x v * w2 x v true else 0) +
    (if v == u then others x v * w2 x v false else 0))) => [|v _]; last by rewrite big_bool.
  rewrite big_split /= -[X in _ + X = _]big_mkcond big_pred1_eq; congr (_ + _).
  case: ifP => _; last by rewrite big1.
  rewrite (bigD1 None) //= big1 ?addr0 // => v /negbTE ne; by rewrite /w2 ne andbF mulr0.
rewrite /goes /others /w2; case: (x \in D') => /=; last by case: u => [i|]; rewrite /= ?mul0r ?mul1r ?subr0 ?mulr1 ?mulr0 ?if_same ?add0r //; case: ifP; rewrite ?add0r.
case: u => [i|] /=.
  rewrite subr0 mulr1; have [<-|ne] := eqVneq j i.
    by rewrite !eqxx addr0 /rest_rate mulrC divfK // gt_eqF ?rest_gt0.
  by rewrite -[Some j == Some i]/(j == i) (negbTE ne) add0r.
rewrite add0r /rest_rate; move: rest_gt0; move: b => z zp; field; by rewrite gt_eqF.
Qed.

(* Given who is in which other part, the two laws differ in what is published of part j alone. *)
Variables (c g : R).
Hypothesis g_ge0 : 0 <= g.
Hypothesis bound : forall N y, t \notin N ->
  hockey c (released (at_rate r N) (fun A => M j (t |: A) y)) (released (at_rate r N) (fun A => M j A y)) <= g.
Hypothesis bound' : forall N y, t \notin N ->
  hockey c (released (at_rate r N) (fun A => M j A y)) (released (at_rate r N) (fun A => M j (t |: A) y)) <= g.

Local Notation sig s A := [ffun x => if x \in A then Some j else s x].

(* The factors of the other parts. *)
Definition elsewhere s y : R := \prod_(i | i != j) M i (part s i) y (y i).

Local Lemma part_j s (A : {set I}) : (forall x, s x != Some j) -> part (sig s A) j = A.
Proof. by move=> h; apply/setP => x; rewrite !inE ffunE; case: ifP => _; rewrite ?eqxx // (negbTE (h x)). Qed.

Local Lemma part_i s (A : {set I}) i : i != j -> A \subset unplaced s -> part (sig s A) i = part s i.
Proof.
move=> ij sub; apply/setP => x; rewrite !inE ffunE; case: ifP => // /(subsetP sub).
by rewrite inE => /andP[_ /eqP ->]; rewrite -[Some j == Some i]/(j == i) eq_sym (negbTE ij).
Qed.

Local Lemma outcomes_q s (A : {set I}) y : (forall x, s x != Some j) -> A \subset unplaced s ->
  outcomes (sig s A) y = elsewhere s y * M j A y (y j).
Proof.
move=> h sub; rewrite /outcomes (bigD1 j) //= part_j // mulrC; congr (_ * _).
by apply: eq_bigr => i ij; rewrite part_i.
Qed.

Local Lemma outcomes_p s (A : {set I}) y : (forall x, s x != Some j) -> A \subset unplaced s -> s t = None ->
  outcomes (put (sig s A) t (Some j)) y = elsewhere s y * M j (t |: A) y (y j).
Proof.
move=> h sub st; rewrite /outcomes (bigD1 j) //= mulrC; congr (_ * _).
  apply: eq_bigr => i ij; congr (M i _ y (y i)); rewrite -(part_i ij sub); apply/setP => x; rewrite !inE !ffunE.
  case: (eqVneq x t) => // ->; case: ifP => [_|_]; last by rewrite st -[Some j == Some i]/(j == i) eq_sym (negbTE ij).
  by [].
congr (M j _ y (y j)); apply/setP => x; rewrite !inE !ffunE; case: (eqVneq x t) => [_|_] /=; first by rewrite eqxx.
by case: ifP => _; rewrite ?eqxx // (negbTE (h x)).
Qed.

Local Notation p s y := (released (at_rate r (unplaced s)) (fun A => M j (t |: A) y)).
Local Notation q s y := (released (at_rate r (unplaced s)) (fun A => M j A y)).

Local Lemma sampled_supp N (F F' : {set I} -> R) : (forall A : {set I}, A \subset N -> F A = F' A) ->
  sampled (at_rate r N) F = sampled (at_rate r N) F'.
Proof.
move=> h; apply: eq_bigr => A _; case: (boolP (A \subset N)) => [/h ->//|/subsetPn[x xA xN]].
by rewrite (@coins_notin _ _ _ _ x) ?mul0r // /at_rate (negbTE xN).
Qed.

Local Lemma sampled_scale N (a : R) (F : {set I} -> R) : sampled (at_rate r N) (fun A => a * F A) = a * sampled (at_rate r N) F.
Proof. by rewrite /sampled mulr_sumr; apply: eq_bigr => A _; rewrite mulrCA. Qed.

Definition good s := [forall x, s x != Some j] && (s t == None).

Local Lemma bad_others s : ~~ good s -> joint others s = 0.
Proof.
rewrite negb_and negb_forall => /orP[/existsP[x]|ne].
  rewrite negbK => /eqP e; rewrite /joint (bigD1 x) //= /others e eqxx; case: ifP => _; by rewrite mul0r.
by rewrite /joint (bigD1 t) //= /others !inE eqxx /= (negbTE ne) mul0r.
Qed.

Local Lemma others_ge0 x v : 0 <= others x v.
Proof.
rewrite /others; case: ifP => _; last exact: ler0n.
by case: v => [i|]; [case: ifP | exact: ltW rest_gt0].
Qed.

Local Lemma given_q s y : good s -> sampled (at_rate r (unplaced s)) (fun A => outcomes (sig s A) y) = elsewhere s y * q s y (y j).
Proof. by case/andP => /forallP h _; rewrite -sampled_scale; apply: sampled_supp => A sub; exact: outcomes_q. Qed.

Local Lemma given_p s y : good s ->
  sampled (at_rate r (unplaced s)) (fun A => outcomes (put (sig s A) t (Some j)) y) = elsewhere s y * p s y (y j).
Proof. by case/andP => /forallP h /eqP st; rewrite -sampled_scale; apply: sampled_supp => A sub; exact: outcomes_p. Qed.

Local Lemma released_causal (L : 'I_m -> {set I} -> {ffun 'I_m -> O} -> O -> R) bb y y' o :
  (forall A, L j A y o = L j A y' o) -> released bb (fun A => L j A y) o = released bb (fun A => L j A y') o.
Proof. by move=> h; apply: eq_sampled. Qed.

(* Summing over all outcomes, with the mechanism of part j replaced by the excess of one law over the other. *)
Local Lemma sum_out s (H : {ffun 'I_m -> O} -> O -> R) : (forall y o, 0 <= H y o) -> (forall y, \sum_o H y o <= g) ->
  (forall y y' o, (forall i : 'I_m, (i < j)%N -> y i = y' i) -> H y o = H y' o) ->
  \sum_y elsewhere s y * H y (y j) <= g.
Proof.
move=> H0 Hg Hc; case: (pickP (fun _ : O => true)) => [o0 _|none]; last first.
  rewrite big1 // => y _; by have := none (y j).
pose K i y o := if i == j then H y o else M i (part s i) y o.
pose G i : R := if i == j then g else 1.
have -> : g = \prod_i G i.
  by rewrite (bigD1 j) //= /G eqxx big1 ?mulr1 // => i /negbTE ->.
rewrite (eq_bigr (fun y => \prod_i K i y (y i))) => [|y _]; last first.
  rewrite [in RHS](bigD1 j) //= /K eqxx mulrC; congr (_ * _); apply: eq_bigr => i /negbTE ij; by rewrite ij.
apply: (chain o0) => [i y o|i y|i y y' o h]; rewrite /K /G.
- by case: ifP.
- by case: ifP => // _; rewrite M1.
by case: (eqVneq i j) => e; [apply: Hc; rewrite -e | exact: causal].
Qed.

Local Lemma excess s (L L' : {set I} -> {ffun 'I_m -> O} -> O -> R) :
  (forall A y y' o, (forall i : 'I_m, (i < j)%N -> y i = y' i) -> L A y o = L A y' o) ->
  (forall A y y' o, (forall i : 'I_m, (i < j)%N -> y i = y' i) -> L' A y o = L' A y' o) ->
  (forall y, hockey c (released (at_rate r (unplaced s)) (fun A => L A y)) (released (at_rate r (unplaced s)) (fun A => L' A y)) <= g) ->
  hockey c (fun y => elsewhere s y * released (at_rate r (unplaced s)) (fun A => L A y) (y j))
    (fun y => elsewhere s y * released (at_rate r (unplaced s)) (fun A => L' A y) (y j)) <= g.
Proof.
move=> Lc Lc' h; pose P y := released (at_rate r (unplaced s)) (fun A => L A y).
pose P' y := released (at_rate r (unplaced s)) (fun A => L' A y).
have e0 y : 0 <= elsewhere s y by apply: prodr_ge0 => i _; exact: M0.
rewrite /hockey (eq_bigr (fun y => elsewhere s y * pos (P y (y j) - c * P' y (y j)))) => [|y _]; last first.
  by rewrite -posM //; congr pos; rewrite /P /P'; ring.
apply: (@sum_out s (fun y o => pos (P y o - c * P' y o))) => [y o|y|y y' o hy]; [exact: pos_ge0 | exact: h |].
by congr (pos (_ - c * _)); [apply: eq_sampled => A; exact: Lc | apply: eq_sampled => A; exact: Lc'].
Qed.

Local Lemma unplaced_t s : t \notin unplaced s. Proof. by rewrite !inE eqxx. Qed.

Local Lemma mean_good F F' : (forall s, good s -> F s = F' s) -> mean others F = mean others F'.
Proof.
move=> h; apply: eq_bigr => s _; case: (boolP (good s)) => [/h ->//|/bad_others ->]; by rewrite !mul0r.
Qed.

Local Lemma hockey_mean (F F' : {ffun I -> option 'I_m} -> {ffun 'I_m -> O} -> R) : (forall s, hockey c (F s) (F' s) <= g) ->
  hockey c (fun y => mean others (fun s => F s y)) (fun y => mean others (fun s => F' s y)) <= g.
Proof.
move=> h; apply: hockey_mixture => // [s|]; first by apply: joint_ge0; exact: others_ge0.
apply: joint_total => x; rewrite option_sum /others; case: ifP => _; last by rewrite big1 ?addr0.
rewrite [X in _ + X](bigD1 j) //= eqxx add0r [X in _ + X](eq_bigr beta) => [|i /negbTE -> //].
have -> : b = beta j + \sum_(i < m | i != j) beta i by rewrite (bigD1 j).
by move: (\sum_(i < m | i != j) beta i) => z; ring.
Qed.

Lemma placed_up : hockey c (placed j) Q <= g.
Proof.
rewrite (eq_hockey _ (p' := fun y => mean others (fun s => elsewhere s y * p s y (y j)))
  (q' := fun y => mean others (fun s => elsewhere s y * q s y (y j)))) => [|y|y].
- apply: (@hockey_mean (fun s y => elsewhere s y * p s y (y j)) (fun s y => elsewhere s y * q s y (y j))) => s.
  apply: (@excess s (fun A => M j (t |: A)) (M j)) => [A|A|y]; [exact: causal | exact: causal |].
  exact: bound (unplaced_t s).
- by rewrite /placed two_steps; apply: mean_good => s /given_p ->.
by rewrite /programme two_steps; apply: mean_good => s /given_q ->.
Qed.

Lemma placed_down : hockey c Q (placed j) <= g.
Proof.
rewrite (eq_hockey _ (p' := fun y => mean others (fun s => elsewhere s y * q s y (y j)))
  (q' := fun y => mean others (fun s => elsewhere s y * p s y (y j)))) => [|y|y].
- apply: (@hockey_mean (fun s y => elsewhere s y * q s y (y j)) (fun s y => elsewhere s y * p s y (y j))) => s.
  apply: (@excess s (M j) (fun A => M j (t |: A))) => [A|A|y]; [exact: causal | exact: causal |].
  exact: bound' (unplaced_t s).
- by rewrite /programme two_steps; apply: mean_good => s /given_q ->.
by rewrite /placed two_steps; apply: mean_good => s /given_p ->.
Qed.

End OnePart.

Local Lemma programme_ge0 E y : 0 <= programme E y.
Proof.
apply: sumr_ge0 => s _; rewrite mulr_ge0 //; first by apply: joint_ge0; exact: goes_ge0.
by apply: prodr_ge0 => i _; exact: M0.
Qed.

Local Lemma placed_ge0 j y : 0 <= placed j y.
Proof.
apply: sumr_ge0 => s _; rewrite mulr_ge0 //; first by apply: joint_ge0; exact: goes_ge0.
by apply: prodr_ge0 => i _; exact: M0.
Qed.

Local Lemma weights : \sum_j beta j / b = 1.
Proof. by rewrite -mulr_suml mulfV // gt_eqF. Qed.

Local Lemma as_mixture y : programme D y = \sum_j beta j / b * mix b (placed j) Q y.
Proof.
rewrite programme_person /mix.
rewrite [RHS](eq_bigr (fun j => beta j * placed j y + beta j / b * ((1 - b) * Q y))) => [|j _]; last first.
  by move: b (gt_eqF b_gt0) => z zn; field; rewrite zn.
by rewrite big_split /= -[X in _ = _ + X]mulr_suml weights mul1r addrC.
Qed.

Local Lemma as_average y : Q y = \sum_j beta j / b * Q y.
Proof. by rewrite -mulr_suml weights mul1r. Qed.

Local Lemma weight_ge0 j : 0 <= beta j / b. Proof. by rewrite divr_ge0 // ltW. Qed.

(* The rule programme.parts: each part where the person is in it with probability b and everybody else with r_j. *)
Theorem parts_up c (g : 'I_m -> R) : 1 <= c -> (forall j, 0 <= g j) ->
  (forall j N y, t \notin N -> hockey (factor_up b c) (released (at_rate (rest_rate j) N) (fun A => M j (t |: A) y))
    (released (at_rate (rest_rate j) N) (fun A => M j A y)) <= g j) ->
  hockey c (programme D) (programme D') <= b * \sum_j beta j / b * g j.
Proof.
move=> c1 g0 h; rewrite (eq_hockey _ as_mixture as_average).
apply: le_trans (hockey_convex _ _ _ weight_ge0) _; rewrite mulr_sumr; apply: ler_sum => j _.
rewrite mulrCA ler_wpmul2l ?weight_ge0 //; apply: mixture_up => //.
by apply: placed_up => // N y tN; exact: h.
Qed.

Theorem parts_down c (g : 'I_m -> R) : 1 <= c -> (forall j, 0 <= g j) ->
  (forall j N y, t \notin N -> 0 < gain b c -> hockey (factor_down b c) (released (at_rate (rest_rate j) N) (fun A => M j A y))
    (released (at_rate (rest_rate j) N) (fun A => M j (t |: A) y)) <= g j) ->
  hockey c (programme D') (programme D) <= pos (gain b c) * \sum_j beta j / b * g j.
Proof.
move=> c1 g0 h; rewrite (eq_hockey _ as_average as_mixture).
apply: le_trans (hockey_convex _ _ _ weight_ge0) _; rewrite mulr_sumr; apply: ler_sum => j _.
rewrite mulrCA ler_wpmul2l ?weight_ge0 //; apply: mixture_down => //; [exact: placed_ge0 | exact: programme_ge0 |].
by move=> gp; apply: placed_down => // N y tN; exact: h.
Qed.

End Person.
End Parts.
