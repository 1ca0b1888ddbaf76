(* Hockey-stick divergence of finite laws over an ordered field: events, convexity, post-processing, products, mixtures.

   A law is a function from a finite type of outcomes to the field; where nothing more is needed, any function will do,
   elsewhere its values are not negative or add up to 1. The factor e^epsilon is a number c of the field. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section PositivePart.
Variable R : realFieldType.
Implicit Types x y z : R.

Definition pos x : R := Num.max 0 x.

Lemma pos_ge0 x : 0 <= pos x. Proof. by rewrite /pos le_maxr lexx. Qed.
Lemma le_pos x : x <= pos x. Proof. by rewrite /pos le_maxr lexx orbT. Qed.
Lemma pos_le x y : 0 <= y -> x <= y -> pos x <= y. Proof. by rewrite /pos le_maxl => -> ->. Qed.
Lemma pos_mono x y : x <= y -> pos x <= pos y.
Proof. by move=> h; apply: pos_le; [exact: pos_ge0 | exact: le_trans h (le_pos y)]. Qed.
Lemma posD x y : pos (x + y) <= pos x + pos y.
Proof. by apply: pos_le; [rewrite addr_ge0 ?pos_ge0 | rewrite ler_add ?le_pos]. Qed.
Lemma pos_id x : 0 <= x -> pos x = x. Proof. by rewrite /pos => /max_r. Qed.
Lemma pos_eq0 x : x <= 0 -> pos x = 0. Proof. by rewrite /pos => /max_l. Qed.
Lemma pos0 : pos 0 = 0. Proof. exact: pos_eq0. Qed.
Lemma posM y x : 0 <= y -> pos (y * x) = y * pos x.
Proof.
move=> y0; case: (leP 0 x) => [x0|/ltW x0]; first by rewrite !pos_id // mulr_ge0.
by rewrite !pos_eq0 ?mulr0 // mulr_ge0_le0.
Qed.
Lemma pos_sub x : pos x - pos (- x) = x.
Proof.
case: (leP 0 x) => [x0|/ltW x0]; first by rewrite pos_id // pos_eq0 ?subr0 // oppr_le0.
by rewrite pos_eq0 // pos_id ?oppr_ge0 // sub0r opprK.
Qed.
Lemma pos_sum (I : Type) (r : seq I) (P : pred I) (F : I -> R) :
  pos (\sum_(i <- r | P i) F i) <= \sum_(i <- r | P i) pos (F i).
Proof.
elim/big_ind2: _ => [|x1 x2 y1 y2 h1 h2|//]; first by rewrite pos0.
by apply: le_trans (posD _ _) _; exact: ler_add.
Qed.

(* An inequality from a difference that is known. *)
Lemma le_diff x y z : 0 <= z -> y - x = z -> x <= y. Proof. by move=> z0 h; rewrite -subr_ge0 h. Qed.

End PositivePart.

Section HockeyStick.
Variables (R : realFieldType) (T : finType).
Implicit Types (p q r : T -> R) (c d : R).

Definition hockey c p q : R := \sum_t pos (p t - c * q t).
Definition event p (S : pred T) : R := \sum_(t | S t) p t.
Definition close c d p q := hockey c p q <= d /\ hockey c q p <= d.

(* (epsilon, delta)-closeness of all events is a bound on the divergence. *)
Theorem hockey_events c d p q :
  (forall S : pred T, event p S <= c * event q S + d) <-> hockey c p q <= d.
Proof.
have split S : event p S - c * event q S = \sum_(t | S t) (p t - c * q t) by rewrite sumrB mulr_sumr.
split=> [h|h S].
  have := h [pred t | 0 <= p t - c * q t]; rewrite -ler_subl_addl split; apply: le_trans.
  rewrite /hockey (bigID [pred t | 0 <= p t - c * q t]) /= [X in _ + X]big1 ?addr0.
    by apply: ler_sum => t /pos_id ->.
  by move=> t; rewrite -ltNge => /ltW /pos_eq0.
rewrite -ler_subl_addl split; apply: le_trans h.
rewrite /hockey [X in _ <= X](bigID S) /=; apply: ler_paddr; first by apply: sumr_ge0 => t _; exact: pos_ge0.
by apply: ler_sum => t _; exact: le_pos.
Qed.

Lemma hockey_ge0 c p q : 0 <= hockey c p q. Proof. by apply: sumr_ge0 => t _; exact: pos_ge0. Qed.

Lemma eq_hockey c p p' q q' : p =1 p' -> q =1 q' -> hockey c p q = hockey c p' q'.
Proof. by move=> h h'; apply: eq_bigr => t _; rewrite h h'. Qed.

Lemma hockey_scale c w p q : 0 <= w -> hockey c (fun t => w * p t) (fun t => w * q t) = w * hockey c p q.
Proof. by move=> w0; rewrite /hockey mulr_sumr; apply: eq_bigr => t _; rewrite -posM //; congr pos; ring. Qed.

(* A divergence falls with its factor. *)
Lemma hockey_antimono c c' p q : (forall t, 0 <= q t) -> c <= c' -> hockey c' p q <= hockey c p q.
Proof. by move=> q0 cc; apply: ler_sum => t _; apply: pos_mono; rewrite ler_sub // ler_wpmul2r. Qed.

(* It is convex in the factor. *)
Theorem hockey_convex_factor c c' w p q : 0 <= w -> w <= 1 ->
  hockey (w * c + (1 - w) * c') p q <= w * hockey c p q + (1 - w) * hockey c' p q.
Proof.
move=> w0 w1; rewrite /hockey !mulr_sumr -big_split /=; apply: ler_sum => t _.
rewrite -!posM ?subr_ge0 //; apply: le_trans (posD _ _); apply: pos_mono.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* Each direction carries the other one below the factor 1. *)
Theorem hockey_inverse c p q : 0 < c ->
  hockey c p q = (\sum_t p t) - c * (\sum_t q t) + c * hockey c^-1 q p.
Proof.
move=> c0; rewrite /hockey !mulr_sumr -sumrB -big_split /=; apply: eq_bigr => t _.
rewrite -posM ?ltW // -[in LHS](subrK (pos (- (p t - c * q t))) (pos _)) pos_sub; congr (_ + pos _).
by field; rewrite gt_eqF.
Qed.

(* Convexity in both laws together: mixtures of close pairs are close. *)
Theorem hockey_convex (J : finType) c (w : J -> R) (p q : J -> T -> R) : (forall j, 0 <= w j) ->
  hockey c (fun t => \sum_j w j * p j t) (fun t => \sum_j w j * q j t) <= \sum_j w j * hockey c (p j) (q j).
Proof.
move=> w0; have -> : \sum_j w j * hockey c (p j) (q j) = \sum_t \sum_j pos (w j * (p j t - c * q j t)).
  by rewrite exchange_big /=; apply: eq_bigr => j _; rewrite mulr_sumr; apply: eq_bigr => t _; rewrite posM.
apply: ler_sum => t _; apply: le_trans (pos_sum _ _ _); rewrite mulr_sumr -sumrB; apply: pos_mono.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => j _; ring.
Qed.

Corollary hockey_mixture (J : finType) c d (w : J -> R) (p q : J -> T -> R) :
  (forall j, 0 <= w j) -> \sum_j w j = 1 -> (forall j, hockey c (p j) (q j) <= d) ->
  hockey c (fun t => \sum_j w j * p j t) (fun t => \sum_j w j * q j t) <= d.
Proof.
move=> w0 w1 h; apply: le_trans (hockey_convex _ _ _ w0) _.
rewrite -[d]mul1r -w1 mulr_suml; apply: ler_sum => j _; exact: ler_wpmul2l.
Qed.

(* One law mixed with the other: what a coin in front of a mechanism makes of a divergence, in both directions. *)
Definition mix (b : R) p q : T -> R := fun t => b * p t + (1 - b) * q t.

Theorem hockey_mix_up b c p q : 0 < b -> hockey c (mix b p q) q = b * hockey (1 + (c - 1) / b) p q.
Proof.
move=> b0; rewrite /hockey mulr_sumr; apply: eq_bigr => t _; rewrite -posM ?ltW //; congr pos.
by rewrite /mix; field; rewrite gt_eqF.
Qed.

Theorem hockey_mix_down b c p q (gain := 1 - c * (1 - b)) : 0 < gain ->
  hockey c q (mix b p q) = gain * hockey (c * b / gain) q p.
Proof.
move=> g0; rewrite /hockey mulr_sumr; apply: eq_bigr => t _; rewrite -posM ?ltW //; congr pos.
rewrite mulrBr !mulrA [gain * c]mulrC -[c * gain * b]mulrA [gain * b]mulrC !mulrA -[c * b * gain * _]mulrA mulfV ?gt_eqF //.
by rewrite mulr1 /mix /gain; ring.
Qed.

Theorem hockey_mix_down0 b c p q : (forall t, 0 <= p t) -> (forall t, 0 <= q t) -> 0 <= b -> 0 <= c ->
  1 - c * (1 - b) <= 0 -> hockey c q (mix b p q) = 0.
Proof.
move=> p0 q0 b0 c0 g; apply: big1 => t _; apply: pos_eq0.
have -> : q t - c * mix b p q t = (1 - c * (1 - b)) * q t - c * b * p t by rewrite /mix; ring.
by rewrite subr_le0; apply: (@le_trans _ _ 0); [rewrite mulr_le0_ge0 | rewrite !mulr_ge0].
Qed.

(* A chain of laws: replaced data, and groups. *)
Theorem hockey_chain c c' p q r : 0 <= c -> hockey (c * c') p r <= hockey c p q + c * hockey c' q r.
Proof.
move=> c0; rewrite /hockey mulr_sumr -big_split /=; apply: ler_sum => t _.
rewrite -posM //; apply: le_trans (posD _ _); apply: pos_mono.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma hockey_self c p : (forall t, 0 <= p t) -> 1 <= c -> hockey c p p = 0.
Proof. by move=> p0 c1; apply: big1 => t _; apply: pos_eq0; rewrite subr_le0 ler_pemull. Qed.

End HockeyStick.

Section PostProcessing.
Variables (R : realFieldType) (T U : finType).
Implicit Types (p q : T -> R) (K : T -> U -> R).

(* What is computed from an outcome, with randomness of its own. *)
Definition push K p : U -> R := fun u => \sum_t p t * K t u.

Theorem hockey_push c K p q : (forall t u, 0 <= K t u) -> (forall t, \sum_u K t u <= 1) ->
  hockey c (push K p) (push K q) <= hockey c p q.
Proof.
move=> K0 K1; rewrite /hockey.
apply: (@le_trans _ _ (\sum_u \sum_t pos (p t - c * q t) * K t u)).
  apply: ler_sum => u _; rewrite /push mulr_sumr -sumrB.
  apply: le_trans (pos_sum _ _ _) _; apply: ler_sum => t _.
  by rewrite mulrA -mulrBl mulrC posM // mulrC.
rewrite exchange_big /=; apply: ler_sum => t _; rewrite -mulr_sumr ler_pimulr // pos_ge0 //.
Qed.

(* A function of the outcome. *)
Definition image (g : T -> U) p : U -> R := fun u => \sum_(t | g t == u) p t.

Lemma image_push g p : image g p =1 push (fun t u => (g t == u)%:R) p.
Proof. by move=> u; rewrite /image /push big_mkcond; apply: eq_bigr => t _; case: eqP; rewrite ?mulr1 ?mulr0. Qed.

Corollary hockey_image c g p q : hockey c (image g p) (image g q) <= hockey c p q.
Proof.
rewrite (eq_hockey _ (image_push g p) (image_push g q)).
apply: hockey_push => [t u|t]; first exact: ler0n.
rewrite (bigD1 (g t)) //= eqxx big1 ?addr0 // => u; by rewrite eq_sym => /negbTE ->.
Qed.

End PostProcessing.

Section Products.
Variables (R : realFieldType) (T U : finType).

Definition times (p : T -> R) (r : U -> R) : T * U -> R := fun x => p x.1 * r x.2.

(* Something independent beside both laws changes nothing. *)
Theorem hockey_times c (p q : T -> R) (r : U -> R) : (forall u, 0 <= r u) ->
  hockey c (times p r) (times q r) = hockey c p q * \sum_u r u.
Proof.
move=> r0; rewrite /hockey big_distrlr /= pair_bigA /=; apply: eq_bigr => x _.
by rewrite /times mulrA -mulrBl mulrC posM // mulrC.
Qed.

End Products.
