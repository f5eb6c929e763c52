(* What the checker states of a field on an undirected graph: the extension exists, is unique, and
   lies between the barriers (Theorems 1 and 2), with a prior, too (Theorem 4). Components without a
   label are left out. *)
From Wayfield Require Import Lists Graph Existence.
From Wayfield Require Amle PLaplacian.
Open Scope R_scope.

(* ---------- sign(t) |t|^q for q > 0 is strictly increasing and continuous *)
Definition power_of (q t : R) :=
  if Rlt_dec 0 t then Rpower t q else if Rlt_dec t 0 then - Rpower (- t) q else 0.

Lemma power_pos q t : 0 < t -> power_of q t = Rpower t q.
Proof. intros H. unfold power_of. now destruct (Rlt_dec 0 t). Qed.
Lemma power_zero q : power_of q 0 = 0.
Proof. unfold power_of. destruct (Rlt_dec 0 0); [lra | reflexivity]. Qed.
Lemma power_odd q t : power_of q (- t) = - power_of q t.
Proof. unfold power_of. destruct (Rlt_dec 0 t), (Rlt_dec 0 (- t)), (Rlt_dec t 0), (Rlt_dec (- t) 0); rewrite ?Ropp_involutive; lra. Qed.

(* what holds of positive numbers, of 0, and of -t if it does of t, holds of all *)
Lemma by_sign (P : R -> Prop) : (forall t, 0 < t -> P t) -> P 0 -> (forall t, P t -> P (- t)) -> forall t, P t.
Proof. intros A B C t. destruct (Rtotal_order t 0) as [H|[->|H]]; auto. rewrite <- (Ropp_involutive t). apply C, A. lra. Qed.

Lemma power_increasing q s t : 0 < q -> s < t -> power_of q s < power_of q t.
Proof.
  intros Hq H. unfold power_of. pose proof (exp_pos (q * ln s)). pose proof (exp_pos (q * ln t)).
  pose proof (exp_pos (q * ln (- s))). pose proof (exp_pos (q * ln (- t))).
  destruct (Rlt_dec 0 s), (Rlt_dec 0 t), (Rlt_dec s 0), (Rlt_dec t 0); unfold Rpower in *; try lra.
  - apply (Rlt_Rpower_l s t q); lra.
  - apply Ropp_lt_contravar, (Rlt_Rpower_l (- t) (- s) q); lra.
Qed.

Lemma increasing_onto f : (forall s t, s < t -> f s < f t) -> (forall s, exists t, f t = s) -> continuity f.
Proof.
  intros Inc Onto t e He. destruct (Onto (f t - e / 2)) as (r & Hr), (Onto (f t + e / 2)) as (s & Hs).
  assert (r < t) by (apply Rnot_le_lt; intros N%(PLaplacian.monotone f Inc); lra).
  assert (t < s) by (apply Rnot_le_lt; intros N%(PLaplacian.monotone f Inc); lra).
  exists (Rmin (t - r) (s - t)). split; [apply Rmin_glb_lt; lra|]. intros x [_ Hx]. simpl in *.
  unfold R_dist in *. pose proof (Rmin_l (t - r) (s - t)). pose proof (Rmin_r (t - r) (s - t)).
  apply Rabs_def2 in Hx. assert (f r < f x) by (apply Inc; lra). assert (f x < f s) by (apply Inc; lra).
  apply Rabs_def1; lra.
Qed.

Lemma power_continuous q : 0 < q -> continuity (power_of q).
Proof.
  intros Hq. apply increasing_onto; [intros; now apply power_increasing|].
  apply by_sign; [|exists 0; apply power_zero | intros s (t & <-); exists (- t); apply power_odd]. intros s Hs.
  exists (Rpower s (/ q)). rewrite power_pos by apply exp_pos. rewrite Rpower_mult, Rinv_l by lra. now apply Rpower_1.
Qed.

(* ---------- from comparison and existence to the bracket, for any equation B u = 0 *)
(* what the checker checks: a is a lower barrier, b an upper one *)
Definition lower_barrier (D L : list nat) (B : field -> nat -> R) (Y a : field) :=
  (forall x, In x D -> In x L -> a x <= Y x) /\ (forall x, In x D -> ~ In x L -> 0 <= B a x).
Definition upper_barrier (D L : list nat) (B : field -> nat -> R) (Y b : field) :=
  (forall x, In x D -> In x L -> Y x <= b x) /\ (forall x, In x D -> ~ In x L -> B b x <= 0).

Section Generic.
Variables (D L : list nat) (B : field -> nat -> R).
Hypothesis compare : forall v u, no_higher D L B v u.
Hypothesis exist : forall Y, exists u, solves D L B Y u.
Hypothesis shift : forall v s x, B (fun y => v y + s) x = B v x.

Lemma bracket Y a b : lower_barrier D L B Y a -> upper_barrier D L B Y b ->
  exists u, solves D L B Y u /\ (forall x, In x D -> a x <= u x <= b x) /\
    forall v, solves D L B Y v -> forall x, In x D -> v x = u x.
Proof.
  intros [La Ba] [Lb Bb]. destruct (exist Y) as (u & Lu & Bu). exists u. split; [now split|]. split.
  - intros x Hx. split; [apply (compare a u) | apply (compare u b)]; auto; intros y Hy H;
      rewrite ?Lu, ?Bu by assumption; auto; lra.
  - intros v [Lv Bv] x Hx. apply Rle_antisym; [apply (compare v u) | apply (compare u v)]; auto;
      intros y Hy H; rewrite ?Lu, ?Lv, ?Bu, ?Bv by assumption; lra.
Qed.

(* labels that are off by at most delta move the extension by no more *)
Lemma near Y Y' u u' delta : (forall x, In x L -> Rabs (Y x - Y' x) <= delta) ->
  solves D L B Y u -> solves D L B Y' u' -> forall x, In x D -> Rabs (u x - u' x) <= delta.
Proof.
  assert (Half : forall Y Y' u u', (forall x, In x L -> Rabs (Y x - Y' x) <= delta) ->
    solves D L B Y u -> solves D L B Y' u' -> forall x, In x D -> u x <= u' x + delta).
  { intros Z Z' w w' H [L1 B1] [L2 B2] x Hx. apply (compare w (fun y => w' y + delta)); auto; intros y Hy Ly.
    - rewrite L1, L2 by assumption. specialize (H y Ly). pose proof (Rle_abs (Z y - Z' y)). lra.
    - rewrite B1 by assumption. lra.
    - rewrite shift, B2 by assumption. lra. }
  intros H S S' x Hx. pose proof (Half Y Y' u u' H S S' x Hx). apply Rabs_le.
  assert (u' x <= u x + delta); [|lra]. apply (Half Y' Y u' u); auto. intros y Hy. rewrite Rabs_minus_sym. now apply H.
Qed.
End Generic.

(* ---------- the two equations; that of the AMLE is `balance_amle` *)
Definition balance_p p (G : graph) (v : field) x := PLaplacian.balance (power_of (p - 1)) G v x.

Section Undirected.
Variables (G : graph) (D L : list nat).
Hypothesis Pos : positive G.
Hypothesis Und : undirected G.
(* D: the vertices that are connected to a label *)
Hypothesis connected : forall x, In x D <-> reaches G L x.

Lemma closed : within G D.
Proof.
  intros a Ha. rewrite !connected. split; intros H; [|now apply reaches_by].
  apply (reaches_by G L (reversed a)); [now apply Und | exact H].
Qed.

Lemma amle_compare v u : no_higher D L (balance_amle G) v u.
Proof. apply Amle.comparison; auto using closed. intros x Hx. now apply Amle.way_undirected, connected. Qed.

(** Theorem 1. There is exactly one AMLE on the vertices that are connected to a label, and it lies
    between a lower and an upper barrier. *)
Theorem amle_bracket Y a b : lower_barrier D L (balance_amle G) Y a -> upper_barrier D L (balance_amle G) Y b ->
  exists u, solves D L (balance_amle G) Y u /\ (forall x, In x D -> a x <= u x <= b x) /\
    forall v, solves D L (balance_amle G) Y v -> forall x, In x D -> v x = u x.
Proof.
  apply bracket; [exact amle_compare|]. intros Z. now apply amle_exists, closed.
Qed.

(** Theorem 4. Labels that are off by at most delta move the AMLE by no more. *)
Theorem amle_near Y Y' u u' delta : (forall x, In x L -> Rabs (Y x - Y' x) <= delta) ->
  solves D L (balance_amle G) Y u -> solves D L (balance_amle G) Y' u' ->
  forall x, In x D -> Rabs (u x - u' x) <= delta.
Proof.
  apply near; [exact amle_compare|]. intros v s x. unfold balance_amle, S_up, S_down. now rewrite !steepest_shift.
Qed.

Variable p : R.
Hypothesis p_range : 1 < p.

Lemma p_compare v u : no_higher D L (balance_p p G) v u.
Proof.
  apply PLaplacian.comparison; auto using closed; [intros; apply power_increasing; lra | intros; now apply connected].
Qed.

(** Theorem 2. There is exactly one p-Laplacian extension on the vertices that are connected to a
    label, and it lies between a lower and an upper barrier. *)
Theorem p_bracket Y a b : lower_barrier D L (balance_p p G) Y a -> upper_barrier D L (balance_p p G) Y b ->
  exists u, solves D L (balance_p p G) Y u /\ (forall x, In x D -> a x <= u x <= b x) /\
    forall v, solves D L (balance_p p G) Y v -> forall x, In x D -> v x = u x.
Proof.
  assert (Q : 0 < p - 1) by lra. apply bracket; [exact p_compare|].
  intros Z. apply p_exists; auto using closed, power_increasing, power_continuous, power_zero.
Qed.

(** Theorem 4. Labels that are off by at most delta move the p-Laplacian extension by no more. *)
Theorem p_near Y Y' u u' delta : (forall x, In x L -> Rabs (Y x - Y' x) <= delta) ->
  solves D L (balance_p p G) Y u -> solves D L (balance_p p G) Y' u' ->
  forall x, In x D -> Rabs (u x - u' x) <= delta.
Proof.
  apply near; [exact p_compare|]. intros v s x. unfold balance_p, PLaplacian.balance, Lists.rsum.
  f_equal. apply map_ext. intros a. unfold PLaplacian.flux. do 2 f_equal. lra.
Qed.
End Undirected.
