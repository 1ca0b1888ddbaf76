(* No smaller delta is true of suppression: a population of one class, whose members are n others and t, attains it. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From crowdblend Require Import hockey coins binomial linear_program averages crowds sampling suppression.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sizes.
Variables (R : realFieldType) (I : finType) (K : {set I}) (r : R).
Hypotheses (r_gt0 : 0 < r) (r_lt1 : r < 1).
Local Notation n := #|K|.

Lemma average_size (g : nat -> R) m : (m <= n)%N -> average K m (fun A => g #|A|) = g m.
Proof.
move=> mn; rewrite /average (eq_bigr (fun=> g m * 1)) => [|A /andP[_ /eqP ->]]; last by rewrite mulr1.
by rewrite -mulr_sumr draws_total mulfK // bin_neq0.
Qed.

Lemma sampled_size (g : nat -> R) : sampled (at_rate r K) (fun A => g #|A|) = \sum_(0 <= m < n.+1) pmf r n m * g m.
Proof. by rewrite sampled_count; apply: eq_big_nat => m /andP[_ mn]; rewrite average_size. Qed.

Lemma size_from l : sampled (at_rate r K) (fun A => (l <= #|A|)%N%:R) = \sum_(l <= m < n.+1) pmf r n m.
Proof.
rewrite (sampled_size (fun m => (l <= m)%N%:R)); case: (leqP l n.+1) => ln.
  rewrite (@big_cat_nat _ _ _ l) //= big_nat_cond big1 ?add0r => [|m /andP[/andP[_ ml] _]]; last by rewrite leqNgt ml mulr0.
  by apply: eq_big_nat => m /andP[lm _]; rewrite lm mulr1.
rewrite [RHS]big_geq ?(ltnW ln) // big_nat_cond big1 // => m /andP[/andP[_ mn] _].
by rewrite leqNgt (ltn_trans mn ln) mulr0.
Qed.

Lemma size_below l : sampled (at_rate r K) (fun A => (#|A| < l)%N%:R) = \sum_(0 <= m < l) pmf r n m.
Proof.
rewrite (sampled_size (fun m => (m < l)%N%:R)); case: (leqP l n.+1) => ln.
  rewrite (@big_cat_nat _ _ _ l) //= [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0 => [|m /andP[/andP[lm _] _]]; last by rewrite ltnNge lm mulr0.
  by apply: eq_big_nat => m /andP[_ ml]; rewrite ml mulr1.
rewrite [RHS](@big_cat_nat _ _ _ n.+1) //= ?(ltnW ln) // [X in _ = _ + X]big_nat_cond [X in _ = _ + X]big1 ?addr0 => [|m /andP[/andP[nm _] _]]; last by rewrite pmf_big.
by apply: eq_big_nat => m /andP[_ mn]; rewrite (ltn_trans mn ln) mulr1.
Qed.

Lemma sampled_inside (F F' : {set I} -> R) : (forall A : {set I}, A \subset K -> F A = F' A) -> sampled (at_rate r K) F = sampled (at_rate r K) F'.
Proof.
move=> h; apply: eq_bigr => A _; case: (boolP (A \subset K)) => [/h -> //|/subsetPn[i iA iK]].
by rewrite (@coins_notin _ _ _ _ i) ?mul0r // /at_rate (negbTE iK).
Qed.

End Sizes.

Section Attained.
Variables (R : realFieldType) (I C : finType) (class : I -> C) (r c : R) (k : nat) (D : {set I}) (t : I).
Hypotheses (tD : t \in D) (one_class : forall i, i \in D -> class i = class t).
Hypotheses (r_gt0 : 0 < r) (r_lt1 : r < 1) (c_ge1 : 1 <= c).
Local Notation M := (suppression R class k.+1).
Local Notation K := (D :\ t).
Local Notation with_t := (released (at_rate r D) M).
Local Notation without_t := (released (at_rate r K) M).
Local Notation surely_t := (released (at_rate r K) (adding t M)).

(* The class of t is shown. *)
Definition is_shown (o : {ffun C -> 'I_#|I|.+1}) : bool := (0 < o (class t))%N.

Lemma members_class (A : {set I}) : A \subset D -> members class A (class t) = #|A|.
Proof.
move=> sub; apply: eq_card => i; rewrite !inE; case: (boolP (i \in A)) => // /(subsetP sub) /one_class ->; exact: eqxx.
Qed.

Lemma shown_iff (A : {set I}) : A \subset D -> is_shown (published class k.+1 A) = (k < #|A|)%N.
Proof.
move=> sub; rewrite /is_shown ffunE members_class // /shown inordK; first by case: ifP => // /(leq_trans _) ->.
by case: ifP => // _; rewrite ltnS max_card.
Qed.

Lemma event_of A (S : pred {ffun C -> 'I_#|I|.+1}) : event (M A) S = (S (published class k.+1 A))%:R.
Proof.
rewrite /event /suppression big_mkcond (bigD1 (published class k.+1 A)) //= eqxx big1 ?addr0; first by case: (S _).
by move=> o /negbTE ->; case: (S o).
Qed.

Lemma sub_D (A : {set I}) : A \subset K -> A \subset D. Proof. by move=> s; apply: subset_trans s _; exact: subD1set. Qed.
Lemma sub_t (A : {set I}) : A \subset K -> t |: A \subset D. Proof. by move=> s; rewrite subUset sub1set tD sub_D. Qed.
Lemma card_t (A : {set I}) : A \subset K -> #|t |: A| = #|A|.+1.
Proof. by move=> s; rewrite cardsU1 (_ : t \notin A) //; apply/negP => /(subsetP s); rewrite !inE eqxx. Qed.

Lemma with_shown : event surely_t is_shown = \sum_(k <= m < #|K|.+1) pmf r #|K| m.
Proof.
rewrite /event sampled_sum -size_from; apply: sampled_inside => A s; rewrite -/(event _ _) event_of shown_iff ?sub_t //.
by rewrite card_t.
Qed.
Lemma without_shown : event without_t is_shown = \sum_(k.+1 <= m < #|K|.+1) pmf r #|K| m.
Proof. by rewrite /event sampled_sum -size_from; apply: sampled_inside => A s; rewrite -/(event _ _) event_of shown_iff ?sub_D. Qed.
Lemma with_hidden : event surely_t (predC is_shown) = \sum_(0 <= m < k) pmf r #|K| m.
Proof.
rewrite /event sampled_sum -size_below //; apply: sampled_inside => A s; rewrite -/(event _ _) event_of /= shown_iff ?sub_t //.
by rewrite card_t // -leqNgt.
Qed.
Lemma without_hidden : event without_t (predC is_shown) = \sum_(0 <= m < k.+1) pmf r #|K| m.
Proof.
rewrite /event sampled_sum -size_below //; apply: sampled_inside => A s; rewrite -/(event _ _) event_of /= shown_iff ?sub_D //.
by rewrite -leqNgt.
Qed.

Lemma mixed : with_t =1 mix r surely_t without_t.
Proof.
move=> o; rewrite (released_person _ _ t) /mix (_ : at_rate r D t = r); last by rewrite /at_rate tD.
by rewrite /released !(eq_rates _ (without_at r D t)).
Qed.

Theorem attained_up : (k <= #|K|)%N -> r * more_at r #|K| k (factor_up r c) <= hockey c with_t without_t.
Proof.
move=> kn; rewrite (eq_hockey _ mixed (fun=> erefl)) hockey_mix_up // ler_wpmul2l ?(ltW r_gt0) // -/(factor_up r c).
have /hockey_events/(_ is_shown) := lexx (hockey (factor_up r c) surely_t without_t).
rewrite -ler_subl_addl; apply: le_trans; rewrite with_shown without_shown [\sum_(k <= m < _) _]big_ltn // /more_at.
by move: (\sum_(k.+1 <= m < #|K|.+1) pmf r #|K| m) => x; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Theorem attained_down : 0 < gain r c -> gain r c * fewer_at r #|K| k (factor_down r c) <= hockey c without_t with_t.
Proof.
move=> g; rewrite (eq_hockey _ (fun=> erefl) mixed) hockey_mix_down // ler_wpmul2l ?(ltW g) // -/(factor_down r c).
have /hockey_events/(_ (predC is_shown)) := lexx (hockey (factor_down r c) without_t surely_t).
rewrite -ler_subl_addl; apply: le_trans; rewrite with_hidden without_hidden big_nat_recr //= /fewer_at.
by move: (\sum_(0 <= m < k) pmf r #|K| m) => x; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

End Attained.
