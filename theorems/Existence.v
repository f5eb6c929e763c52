(* There is a solution: the largest subsolution (Perron's method). *)
From Coq Require Import FunctionalExtensionality.
From Wayfield Require Import Lists Graph.
From Wayfield Require PLaplacian Amle.
Open Scope R_scope.

(* least upper bounds, at each vertex, of numbers up to high, but no less than low *)
Lemma suprema (E : nat -> R -> Prop) low high : low <= high -> (forall x t, E x t -> t <= high) ->
  exists u : field, forall x, (forall t, E x t -> t <= u x) /\
    forall s, low <= s -> (forall t, E x t -> t <= s) -> u x <= s.
Proof.
  intros LH H. assert (B : forall x, bound (fun t => t = low \/ E x t)).
  { intros x. exists high. intros t [->|Ht]; eauto. }
  exists (fun x => proj1_sig (completeness _ (B x) (ex_intro _ low (or_introl eq_refl)))). intros x.
  destruct (completeness _ _ _) as (s & Up & Le). simpl. split; [intros t Ht; apply Up; now right|].
  intros r L Hr. apply Le. intros t [->|Ht]; auto.
Qed.

Definition upd (v : field) (x : nat) (t : R) : field := fun y => if Nat.eqb y x then t else v y.

Lemma upd_same v x t : upd v x t x = t.
Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma upd_other v x t y : y <> x -> upd v x t y = v y.
Proof. intros H. unfold upd. apply Nat.eqb_neq in H. now rewrite H. Qed.

(* u has the values Y on L, and solves an equation B u = 0, or that of the AMLE, elsewhere *)
Definition solves (D L : list nat) (B : field -> nat -> R) (Y u : field) :=
  (forall x, In x D -> In x L -> u x = Y x) /\ (forall x, In x D -> ~ In x L -> B u x = 0).
Definition solution (G : graph) (D L : list nat) (Y u : field) :=
  (forall x, In x D -> In x L -> u x = Y x) /\
  (forall x, In x D -> ~ In x L -> S_up G u x = S_down G u x).

Section Perron.
Variables (D L : list nat) (Y : field) (B : field -> nat -> R) (low high : R).
Hypothesis labels : forall x, In x L -> low <= Y x <= high.
Hypothesis range : low <= high.
(* raising other values does not lower the balance *)
Hypothesis monotone : forall v w x, In x D -> ~ In x L ->
  (forall y, In y D -> v y <= w y) -> v x = w x -> B v x <= B w x.
(* it is continuous in the vertex's own value *)
Hypothesis continuous : forall v x, In x D -> ~ In x L -> continuity (fun t => B (upd v x t) x).
Hypothesis constant : forall c x, B (fun _ => c) x = 0.

Let sub (v : field) :=
  (forall x, In x D -> low <= v x <= high) /\
  (forall x, In x D -> In x L -> v x <= Y x) /\
  (forall x, In x D -> ~ In x L -> 0 <= B v x).

Lemma start : sub (fun _ => low).
Proof.
  repeat split; try lra; [now intros; apply labels|]. intros x Hx HL. rewrite constant. lra.
Qed.

(* if the balance is positive, a vertex is higher *)
Lemma higher v x : In x D -> ~ In x L -> 0 < B v x -> exists y, In y D /\ v x < v y.
Proof.
  intros Hx HL P. destruct (largest_of_all v D x Hx) as (y & Hy & My). exists y. split; [assumption|].
  apply Rnot_le_lt. intros N. rewrite <- (constant (v x) x) in P. apply (Rlt_not_le _ _ P).
  apply monotone; auto. intros z Hz. specialize (My z Hz). lra.
Qed.

(* the largest values of subsolutions *)
Section Largest.
Variable u : field.
Hypothesis u_above : forall v x, sub v -> In x D -> v x <= u x.
Hypothesis u_least : forall x s, In x D -> (forall v, sub v -> v x <= s) -> u x <= s.

Lemma continuous_at v x t : In x D -> ~ In x L -> forall e, 0 < e -> exists d, 0 < d /\
  forall s, Rabs (s - t) < d -> Rabs (B (upd v x s) x - B (upd v x t) x) < e.
Proof.
  intros Hx HL e He. destruct (continuous v x Hx HL t e He) as (d & Hd & C). exists d. split; [exact Hd|].
  intros s Hs. destruct (Req_dec s t) as [->|Ne].
  - rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. exact He.
  - apply (C s). split; [|exact Hs]. split; [exact I | now apply not_eq_sym].
Qed.

Lemma own x : upd u x (u x) = u.
Proof. extensionality y. unfold upd. now destruct (Nat.eqb_spec y x) as [->|]. Qed.

Lemma u_sub : sub u.
Proof.
  split; [|split].
  - intros x Hx. split; [apply (u_above _ _ start Hx)|]. apply u_least; auto. intros v Sv. now apply Sv.
  - intros x Hx HL. apply u_least; auto. intros v Sv. now apply Sv.
  - intros x Hx HL. destruct (Rle_dec 0 (B u x)) as [|N]; [assumption|exfalso].
    destruct (continuous_at u x (u x) Hx HL (- B u x)) as (d & Hd & C); [lra|].
    apply (Rlt_not_le (u x) (u x - d)); [lra|]. apply u_least; [assumption|]. intros v Sv.
    destruct (Rle_dec (v x) (u x - d)); [assumption|exfalso].
    pose proof (u_above v x Sv Hx). specialize (C (v x) ltac:(apply Rabs_def1; lra)).
    rewrite own in C. apply Rabs_def2 in C. assert (B v x <= B (upd u x (v x)) x).
    { apply monotone; auto; [|now rewrite upd_same]. intros y Hy.
      destruct (Nat.eq_dec y x) as [->|Ne]; [rewrite upd_same; lra | rewrite upd_other by assumption; now apply u_above]. }
    assert (0 <= B v x) by now apply Sv. lra.
Qed.

(* u cannot be raised at a vertex *)
Lemma no_more x t : In x D -> u x < t <= high -> (In x L -> t <= Y x) -> (~ In x L -> 0 <= B (upd u x t) x) -> False.
Proof.
  intros Hx H HY HB. assert (S : sub (upd u x t)).
  2:{ apply u_above with (x := x) in S; [|exact Hx]. rewrite upd_same in S. lra. }
  assert (low <= u x) by now apply u_sub.
  split; [|split]; intros y Hy; destruct (Nat.eq_dec y x) as [->|Ne]; rewrite ?upd_same, ?upd_other by exact Ne;
    try (apply u_sub; exact Hy); [lra | exact HY | exact HB |].
  intros HL. apply Rle_trans with (B u y); [now apply u_sub|]. apply monotone; auto; [|now rewrite upd_other].
  intros z Hz. destruct (Nat.eq_dec z x) as [->|Nz]; [rewrite upd_same | rewrite upd_other by exact Nz]; lra.
Qed.

Lemma largest_solves : solves D L B Y u.
Proof.
  split; intros x Hx HL; (apply Rle_antisym; [|try now apply u_sub]).
  - now apply u_sub.
  - apply Rnot_lt_le. intros H. apply (no_more x (Y x) Hx); [pose proof (labels x HL); lra | intros; lra | contradiction].
  - apply Rnot_lt_le. intros H. destruct (higher u x Hx HL H) as (y & Hy & Hyx). assert (R : u y <= high) by now apply u_sub.
    destruct (continuous_at u x (u x) Hx HL (B u x)) as (d & Hd & C); [lra|]. set (t := u x + Rmin (d / 2) (u y - u x)).
    assert (T : u x < t /\ t < u x + d /\ t <= u y) by (unfold t, Rmin; destruct (Rle_dec _ _); lra).
    apply (no_more x t Hx); [lra | contradiction |]. intros _.
    specialize (C t ltac:(apply Rabs_def1; lra)). rewrite own in C. apply Rabs_def2 in C. lra.
Qed.
End Largest.

Lemma existence : exists u, solves D L B Y u.
Proof.
  destruct (suprema (fun x t => In x D /\ exists v, sub v /\ v x = t) low high) as (u & H); [exact range | |].
  - intros x t (Hx & v & Sv & <-). now apply Sv.
  - exists u. apply largest_solves; [intros v x Sv Hx; apply H; eauto|].
    intros x s Hx Hs. apply H; [apply (Hs _ start) | intros t (_ & v & Sv & <-); auto].
Qed.
End Perron.

(* ---------- the two equations have the four properties *)

Lemma fold_cont {A} (op : R -> R -> R) (g : R -> A -> R) l :
  (forall f h, continuity f -> continuity h -> continuity (fun t => op (f t) (h t))) ->
  (forall a, In a l -> continuity (fun t => g t a)) -> continuity (fun t => fold_right op 0 (map (g t) l)).
Proof.
  intros Op. induction l as [|a l IH]; simpl; intros H; [apply continuity_const; intros s t; reflexivity|].
  apply (Op (fun t => g t a) (fun t => fold_right op 0 (map (g t) l))); auto.
Qed.

Lemma continuity_Rmax f g : continuity f -> continuity g -> continuity (fun t => Rmax (f t) (g t)).
Proof.
  intros Cf Cg. replace (fun t => Rmax (f t) (g t)) with (fun t => (f t + g t + Rabs (f t - g t)) * / 2); [reg|].
  extensionality t. unfold Rmax. destruct (Rle_dec (f t) (g t)); [rewrite Rabs_left1 | rewrite Rabs_right]; lra.
Qed.

Lemma slope_cont v x y z l : continuity (fun t => (upd v x t y - upd v x t z) / l).
Proof. unfold upd. destruct (Nat.eqb y x), (Nat.eqb z x); reg. Qed.

Lemma steepest_flat c A : steepest (fun _ => c) A = 0.
Proof. unfold steepest, fall. induction A; simpl; [lra|]. rewrite IHA. apply Rmax_right. unfold Rdiv. lra. Qed.

Lemma amle_exists (G : graph) (D L : list nat) (Y : field) :
  positive G -> within G D -> exists u, solves D L (balance_amle G) Y u.
Proof.
  intros Pos Wi. destruct (bounded Y L) as (M & M0 & Lab).
  apply (existence D L Y _ (- M) M); unfold balance_amle; [exact Lab | lra | ..].
  - intros v w x Hx _ H E. assert (S_up G v x <= S_up G w x /\ S_down G w x <= S_down G v x); [|lra].
    split; apply steepest_mono; intros a Ha; [apply (into_within _ D) in Ha | apply (out_within _ D) in Ha]; auto;
      destruct Ha as (Ha & <- & Hy); apply fall_le; auto; specialize (H _ Hy); lra.
  - intros v x _ _. apply (continuity_minus (fun t => S_up G (upd v x t) x) (fun t => S_down G (upd v x t) x));
      apply (fold_cont Rmax (fun t => fall (upd v x t))); auto using continuity_Rmax; intros a _; apply slope_cont.
  - intros c x. unfold S_up, S_down. rewrite !steepest_flat. lra.
Qed.

Lemma p_exists (phi : R -> R) (G : graph) (D L : list nat) (Y : field) :
  (forall s t, s < t -> phi s < phi t) -> continuity phi -> phi 0 = 0 ->
  positive G -> within G D -> exists u, solves D L (PLaplacian.balance phi G) Y u.
Proof.
  intros Inc Cont Zero Pos Wi. destruct (bounded Y L) as (M & M0 & Lab).
  apply (existence D L Y _ (- M) M); [exact Lab | lra | ..].
  - intros v w x Hx _ H E. apply rsum_le. intros a Ha. apply (out_within _ D) in Ha as (Ha & <- & Hy); auto.
    apply PLaplacian.monotone, div_le; auto. specialize (H _ Hy). lra.
  - intros v x _ _. apply (fold_cont Rplus (fun t => PLaplacian.flux phi (upd v x t))); [intros; now apply continuity_plus|].
    intros a _. apply (continuity_comp (fun t => (upd v x t (head a) - upd v x t (tail a)) / len a) phi); [apply slope_cont | exact Cont].
  - intros c x. apply rsum_zero. intros a _. unfold PLaplacian.flux, Rdiv. now rewrite Rminus_diag_eq, Rmult_0_l.
Qed.
