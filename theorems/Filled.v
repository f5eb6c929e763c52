(* The AMLE with filled vertices, on directed graphs: uniqueness, which vertices it fixes and the
   bracket there (Theorem 3), filling, and rounded corrections with flat fill (Theorem 4). *)
From Coq Require Import Reals List Lia Lra Arith.
From Wayfield Require Import Graph.
From Wayfield Require Import Existence.
From Wayfield Require Amle TwoLeast.
Import ListNotations.
Open Scope R_scope.

Definition solution (G : graph) (D L : list nat) (Y u : field) :=
  (forall x, In x D -> In x L -> u x = Y x) /\
  (forall x, In x D -> ~ In x L -> S_up G u x = S_down G u x).

(* ---------- two solutions agree where one of them is not level *)
Section Unique.
Variables (G : graph) (D L : list nat) (Y : field).
Hypothesis Pos : positive G.
Hypothesis Wi : within G D.

(* on the vertices that are labelled, or not level in both, other arcs do not matter: there a steepest arc descends *)
Lemma not_above u v : solution G D L Y u -> solution G D L Y v ->
  forall x, In x D -> ~ In x L -> ~ (level G u x /\ level G v x) -> v x <= u x.
Proof.
  intros Su Sv x Hx HL NP. set (Q := fun y => In y L \/ ~ (level G u y /\ level G v y)).
  assert (dec : forall y, {Q y} + {~ Q y}).
  { intros y. unfold Q. destruct (in_dec Nat.eq_dec y L), (level_dec G u y), (level_dec G v y); tauto. }
  set (K := filter (fun y => if dec y then true else false) D).
  assert (HK : forall y, In y K <-> In y D /\ Q y) by (intros y; unfold K; rewrite filter_In; destruct (dec y); intuition congruence).
  assert (Kept : forall w y, w = u \/ w = v -> In y K -> S_up (among G K) w y = S_up G w y /\ S_down (among G K) w y = S_down G w y).
  { intros w y Hw Hy. apply kept; [assumption|]. assert (Le : forall z, In z D -> ~ In z K -> level G w z).
    { intros z Hz N. rewrite HK in N. unfold Q in N. destruct (level_dec G u z), (level_dec G v z), Hw; subst; tauto. }
    apply HK in Hy. intros e He [[<- N]|[<- N]].
    - apply (steepest_zero w (into G (head e))); [apply Le; [now apply (Wi e He) | assumption] | now apply in_into].
    - apply (steepest_zero w (out G (tail e))); [apply Le; [now apply (Wi e He) | assumption] | now apply in_out]. }
  assert (Steep : forall w y, w = u \/ w = v -> solution G D L Y w -> In y K -> ~ In y L -> ~ level G w y ->
    exists a, In a (among G K) /\ tail a = y /\ w (head a) < w y).
  { intros w y Hw [_ Sw] Hy Ly Nl. destruct (Kept w y Hw Hy) as [_ E]. specialize (Sw y (proj1 (proj1 (HK y) Hy)) Ly).
    pose proof (steepest_nonneg w (out G y)). unfold level, S_down in *.
    destruct (steepest_attained w (out (among G K) y)) as (a & Ha & Fa); [destruct (Req_EM_T (steepest w (out G y)) 0); [exfalso; apply Nl|]; lra|].
    apply in_out in Ha. destruct Ha as [Ha Et]. exists a. repeat split; auto. rewrite <- Et.
    apply fall_pos; [now apply (among_positive G K Pos) | destruct (Req_EM_T (steepest w (out G y)) 0); [exfalso; apply Nl|]; lra]. }
  apply (Amle.comparison (among G K) K L v u); [now apply among_positive | apply among_within | | | | | apply HK; now split; [|right]].
  - right; left. intros y Hy Ly. pose proof (proj2 (proj1 (HK y) Hy)) as [|N]; [contradiction|].
    destruct (level_dec G u y) as [Lu|Nu]; [destruct (level_dec G v y) as [Lv|Nv]; [tauto|]|];
      [destruct (Steep v y) as (a & A1 & A2 & A3) | destruct (Steep u y) as (a & A1 & A2 & A3)]; auto; exists a; auto.
  - intros y Hy Ly. apply HK in Hy. destruct Su as [Lu _], Sv as [Lv _]. rewrite Lu, Lv by tauto. lra.
  - intros y Hy Ly. destruct (Kept v y ltac:(auto) Hy) as [-> ->]. apply HK in Hy. destruct Sv as [_ Sv]. rewrite Sv by tauto. lra.
  - intros y Hy Ly. destruct (Kept u y ltac:(auto) Hy) as [-> ->]. apply HK in Hy. destruct Su as [_ Su]. rewrite Su by tauto. lra.
Qed.

(** On a directed graph two solutions have the same level vertices, and agree at all others. *)
Theorem uniqueness u v : solution G D L Y u -> solution G D L Y v -> forall x, In x D -> ~ In x L ->
  (level G u x <-> level G v x) /\ (~ level G u x -> u x = v x).
Proof.
  intros Su Sv. assert (Eq : forall x, In x D -> In x L \/ ~ (level G u x /\ level G v x) -> u x = v x).
  { intros x Hx H. destruct (in_dec Nat.eq_dec x L) as [HL|HL].
    - destruct Su as [Lu _], Sv as [Lv _]. now rewrite Lu, Lv.
    - apply Rle_antisym; [apply (not_above v u) | apply (not_above u v)]; tauto. }
  assert (Half : forall u v, solution G D L Y u -> solution G D L Y v ->
    (forall x, In x D -> In x L \/ ~ (level G u x /\ level G v x) -> u x = v x) ->
    forall x, In x D -> ~ In x L -> level G u x -> level G v x).
  { clear u v Su Sv Eq. intros u v [_ Eu] [_ Ev] Eq x Hx HL Le.
    destruct (level_dec G v x) as [|NV]; [assumption|exfalso]. assert (S : 0 < S_up G v x).
    { pose proof (steepest_nonneg v (into G x)). specialize (Ev x Hx HL).
      destruct (Req_EM_T (S_up G v x) 0); [exfalso; apply NV; unfold level; lra | unfold S_up in *; lra]. }
    destruct (steepest_attained v _ S) as (a & Ha & Fa). fold (S_up G v x) in Fa.
    pose proof (steepest_zero _ _ (proj1 Le) a Ha) as Z. apply in_into in Ha. destruct Ha as [Ha Eh].
    assert (Ht : In (tail a) D) by (apply (Wi a Ha); now rewrite Eh). pose proof (Pos a Ha) as Pa.
    assert (Fp : 0 < fall v a) by lra. assert (Et : u (tail a) = v (tail a)).
    { apply Eq; [assumption|]. right. intros [_ [_ Q]].
      assert (T := steepest_zero _ _ Q a). rewrite in_out in T. specialize (T (conj Ha eq_refl)). lra. }
    assert (Ex : u x = v x) by (apply Eq; tauto).
    unfold fall in Z, Fp. rewrite Eh in Z, Fp. rewrite Et, Ex in Z. lra. }
  intros x Hx HL. split; [|intros N; apply Eq; tauto].
  split; apply Half; auto. intros y Hy H. symmetry. apply Eq; tauto.
Qed.
End Unique.

(* ---------- walks whose inner vertices are outside K *)

Inductive leads (G : graph) (K : list nat) : nat -> nat -> Prop :=
| leads_by a : In a G -> ~ In (tail a) K -> In (head a) K -> leads G K (tail a) (head a)
| leads_on a t : In a G -> ~ In (tail a) K -> ~ In (head a) K -> leads G K (head a) t ->
    leads G K (tail a) t.

Lemma leads_end G K x t : leads G K x t -> ~ In x K /\ In t K.
Proof. induction 1; tauto. Qed.

(* ---------- Theorem 3
   F: the vertices from which a label can be reached; K: the fixed ones, and a, b the barriers *)
Section Fixed.
Variables (G : graph) (F K L : list nat) (Y a b : field).
Hypothesis Pos : positive G.
Hypothesis F_reaches : forall x, In x F <-> reaches G L x.
Hypothesis L_in_K : forall x, In x L -> In x K.
(* what the checker checks *)
Hypothesis label_enclosed : forall x, In x L -> a x <= Y x <= b x.
Hypothesis sub : forall x, In x K -> ~ In x L -> S_down (among G K) a x <= S_up (among G K) a x.
Hypothesis super : forall x, In x K -> ~ In x L -> S_up (among G K) b x <= S_down (among G K) b x.
Hypothesis ordered : forall x, In x K -> a x <= b x.
Hypothesis descends : forall x, In x K -> ~ In x L ->
  exists e, In e G /\ tail e = x /\ In (head e) K /\ b (head e) < a x.
Hypothesis no_descent : forall e t, In e G -> In (tail e) K -> ~ In (head e) K ->
  leads G K (head e) t -> t <> tail e -> b (tail e) <= a t.

Let GK := among G K.
Let GF := among G F.
Let PK : positive GK := among_positive G K Pos.
Let PF : positive GF := among_positive G F Pos.
Let WK : within GK K := among_within G K.
Let WF : within GF F := among_within G F.

Lemma on_K : exists w, (forall x, In x K -> a x <= w x <= b x) /\ (forall x, In x L -> w x = Y x) /\
  (forall x, In x K -> ~ In x L -> S_up GK w x = S_down GK w x).
Proof.
  destruct (range L Y) as (low & high & Hr & HY).
  destruct (Existence.amle_exists GK K L Y low high) as (w & _ & W2 & W3);
    [exact PK | exact WK | exact HY | exact Hr |]. exists w. split; [|split; [intros; apply W2; auto | exact W3]].
  assert (Arc : forall x, In x K -> ~ In x L -> exists e, In e GK /\ tail e = x /\ b (head e) < a x).
  { intros x Hx HL. destruct (descends x Hx HL) as (e & He & Et & Hh & Dn). exists e.
    split; [|auto]. apply in_among. subst x. tauto. }
  intros x Hx. split.
  - apply (Amle.comparison GK K L a w); auto.
    + right; left. intros z Hz HL. destruct (Arc z Hz HL) as (e & He & Et & Dn). exists e. repeat split; auto.
      left. assert (a (head e) <= b (head e)); [|lra]. apply ordered. apply (among_within G K e He). now rewrite Et.
    + intros z Hz HL. rewrite W2 by assumption. now apply label_enclosed.
    + intros z Hz HL. rewrite W3 by assumption. lra.
  - apply (Amle.comparison GK K L w b); auto.
    + right; left. intros z Hz HL. destruct (Arc z Hz HL) as (e & He & Et & Dn). exists e. repeat split; auto.
      right. pose proof (ordered z Hz). lra.
    + intros z Hz HL. rewrite W2 by assumption. now apply label_enclosed.
    + intros z Hz HL. rewrite W3 by assumption. lra.
Qed.

Lemma K_in_F w : (forall x, In x K -> a x <= w x <= b x) -> forall x, In x K -> In x F.
Proof.
  (* of the others the one with the least value would have an arc to a lower one *)
  intros W x0 Hx0. destruct (in_dec Nat.eq_dec x0 F) as [|N0]; [assumption|exfalso].
  destruct (largest (fun x => ~ In x F)) with (f := fun x => - w x) (D := K) as (x & Hx & Nx & Mx);
    [intros x; destruct (in_dec Nat.eq_dec x F); tauto | now exists x0 |].
  destruct (in_dec Nat.eq_dec x L) as [HL|HL]; [now apply Nx, F_reaches, reaches_at|].
  destruct (descends x Hx HL) as (e & He & <- & Hh & Dn). pose proof (W _ Hx). pose proof (W _ Hh).
  destruct (in_dec Nat.eq_dec (head e) F) as [Fh|Nh]; [|specialize (Mx _ Hh Nh); lra].
  apply Nx, F_reaches, reaches_by; [assumption | now apply F_reaches].
Qed.

(* the field w, continued flat to the other vertices: the least w(t) to which x leads *)
Lemma flat (w : field) : exists f : field, (forall x, In x K -> f x = w x) /\
  (forall x t, ~ In x K -> leads G K x t -> f x <= w t) /\
  (forall x c, ~ In x K -> (exists t, In t K /\ c <= w t) ->
     (forall t, leads G K x t -> c <= w t) -> c <= f x).
Proof.
  destruct (range K w) as (low & high & _ & Bd).
  set (E := fun x s => s = - high \/ exists t, leads G K x t /\ s = - w t). assert (Bo : forall x, bound (E x)).
  { intros x. exists (Rmax (- high) (- low)). intros s [->|(t & Ht & ->)]; [apply Rmax_l|].
    eapply Rle_trans; [|apply Rmax_r]. apply leads_end in Ht. destruct (Bd t) as [Q _]; [tauto|]. lra. }
  exists (fun x => if in_dec Nat.eq_dec x K then w x else
    - proj1_sig (completeness (E x) (Bo x) (ex_intro _ _ (or_introl eq_refl)))). split; [|split].
  - intros x Hx. destruct (in_dec Nat.eq_dec x K); [reflexivity | contradiction].
  - intros x t Hx Ht. destruct (in_dec Nat.eq_dec x K); [contradiction|].
    destruct (completeness _ _ _) as (s & Up & Le). simpl.
    assert (- w t <= s) by (apply Up; right; now exists t). lra.
  - intros x c Hx (t0 & H0 & C0) Hc. destruct (in_dec Nat.eq_dec x K); [contradiction|].
    destruct (completeness _ _ _) as (s & Up & Le). simpl.
    assert (s <= - c); [|lra]. apply Le. intros r [->|(t & Ht & ->)].
    + destruct (Bd t0 H0). lra.
    + specialize (Hc t Ht). lra.
Qed.

(* every vertex of F outside K leads to K *)
Lemma leads_somewhere x : reaches G L x -> ~ In x K -> exists t, leads G K x t.
Proof.
  induction 1 as [x Hx|e He _ IH]; intros HK; [exfalso; auto|]. destruct (in_dec Nat.eq_dec (head e) K) as [H|H].
  - exists (head e). now apply leads_by.
  - destruct (IH H) as (t & Ht). exists t. now apply leads_on.
Qed.

(* There is a solution, between the barriers on K, and level exactly outside K. *)
Lemma a_solution : exists f, solution GF F L Y f /\ (forall x, In x K -> a x <= f x <= b x) /\
  (forall x, In x K -> In x F) /\
  (forall x, In x F -> ~ In x L -> (level GF f x <-> ~ In x K)).
Proof.
  destruct on_K as (w & W & WL & WE). pose proof (K_in_F w W) as KF. destruct (flat w) as (f & F1 & F2 & F3).
  (* no arc from or to a vertex outside K descends *)
  assert (No : forall e, In e GF -> ~ (In (tail e) K /\ In (head e) K) -> f (tail e) <= f (head e)).
  { intros e He NK. apply in_among in He. destruct He as (He & Ft & Fh).
    destruct (in_dec Nat.eq_dec (tail e) K) as [Kt|Kt], (in_dec Nat.eq_dec (head e) K) as [Kh|Kh].
    - tauto.
    - (* from K outwards *) rewrite (F1 _ Kt). apply F3; auto; [exists (tail e); split; [assumption | lra]|].
      intros t Ht. destruct (Nat.eq_dec t (tail e)) as [->|Ne]; [lra|].
      pose proof (no_descent e t He Kt Kh Ht Ne). apply leads_end in Ht.
      pose proof (W _ Kt). pose proof (W t (proj2 Ht)). lra.
    - rewrite (F1 _ Kh). apply F2; [assumption | now apply leads_by].
    - apply F3; [assumption | |].
      + destruct (leads_somewhere (head e)) as (t & Ht); [now apply F_reaches | assumption|].
        exists t. split; [now apply leads_end in Ht|]. apply F2; [assumption | now apply leads_on].
      + intros t Ht. apply F2; [assumption | now apply leads_on]. }
  assert (Falls : forall e, In e GF -> ~ (In (tail e) K /\ In (head e) K) -> fall f e <= 0).
  { intros e He NK. specialize (No e He NK). apply Rnot_lt_le. intros P.
    apply fall_pos in P; [lra|]. now apply (among_positive G F Pos). }
  (* on K the steepest slopes are those of the arcs within K *)
  assert (GKF : among GF K = GK). { unfold GF, GK, among. clear - KF. induction G as [|e l IH]; simpl; [reflexivity|].
    destruct (inb (tail e) F) eqn:E1, (inb (head e) F) eqn:E2, (inb (tail e) K) eqn:E3, (inb (head e) K) eqn:E4; simpl;
      rewrite ?E3, ?E4; simpl; try (f_equal; exact IH); try exact IH;
      apply inb_iff in E3, E4; apply KF, inb_iff in E3; apply KF, inb_iff in E4; congruence. }
  assert (Same : forall x, In x K -> S_up GF f x = S_up GK w x /\ S_down GF f x = S_down GK w x).
  { intros x Hx. destruct (kept GF K f x Hx) as [<- <-].
    - intros e He N. apply Falls; [assumption | tauto].
    - rewrite GKF. unfold S_up, S_down, steepest. split; f_equal; apply map_ext_in; intros e He; unfold fall;
        [apply in_into in He | apply in_out in He]; destruct He as [He _]; apply in_among in He; rewrite !F1 by tauto; reflexivity. }
  assert (Level : forall x, ~ In x K -> level GF f x).
  { intros x Hx. split; (apply Rle_antisym; [|apply steepest_nonneg]); apply steepest_le; try lra;
      intros e He; [apply in_into in He | apply in_out in He]; destruct He as [He <-]; apply Falls; tauto. }
  exists f. split; [split|split; [|split]].
  - intros x _ HL. rewrite F1 by auto. now apply WL.
  - intros x HF HL. destruct (in_dec Nat.eq_dec x K) as [HK|HK].
    + destruct (Same x HK) as [-> ->]. now apply WE.
    + destruct (Level x HK). congruence.
  - intros x Hx. rewrite F1 by assumption. now apply W.
  - exact KF.
  - intros x HF HL. split; [|apply Level]. intros [_ Le] HK. destruct (descends x HK HL) as (e & He & Et & Hh & Dn).
    assert (Hg : In e (out GF x)). { apply in_out. split; [|assumption]. apply in_among. subst x. auto. }
    pose proof (steepest_zero _ _ Le e Hg) as Z. pose proof (W x HK). pose proof (W _ Hh). assert (P : 0 < fall f e).
    { apply fall_pos; [now apply Pos|]. rewrite !F1 by (rewrite ?Et; assumption). rewrite Et. lra. }
    lra.
Qed.

(** Theorem 3. There is a solution, K is the set of vertices that any solution fixes, and on it the
    solution is unique and lies between the barriers. *)
Theorem filled : (exists u, solution GF F L Y u) /\ (forall x, In x K -> In x F) /\ forall u, solution GF F L Y u ->
    (forall x, In x K -> a x <= u x <= b x) /\
    (forall x, In x F -> (In x K <-> In x L \/ ~ level GF u x)) /\
    (forall v, solution GF F L Y v -> forall x, In x K -> u x = v x).
Proof.
  destruct a_solution as (f & Sf & Bf & KF & Lf). split; [now exists f|]. split; [exact KF|].
  assert (Fix : forall u, solution GF F L Y u -> forall x, In x F -> (In x K <-> In x L \/ ~ level GF u x)).
  { intros u Su x HF. destruct (in_dec Nat.eq_dec x L) as [HL|HL]; [split; auto|].
    destruct (uniqueness GF F L Y PF WF u f Su Sf x HF HL) as [E _].
    specialize (Lf x HF HL). destruct (in_dec Nat.eq_dec x K); tauto. }
  assert (Eq : forall u, solution GF F L Y u -> forall x, In x K -> u x = f x).
  { intros u Su x HK. destruct (in_dec Nat.eq_dec x L) as [HL|HL].
    - destruct Su as [Lu _], Sf as [Lf' _]. rewrite Lu, Lf'; auto.
    - apply (uniqueness GF F L Y PF WF u f Su Sf); auto. pose proof (Fix u Su x (KF x HK)). tauto. }
  intros u Su. split; [|split].
  - intros x HK. rewrite (Eq u Su x HK). now apply Bf.
  - now apply Fix.
  - intros v Sv x HK. rewrite (Eq u Su x HK), (Eq v Sv x HK). reflexivity.
Qed.
End Fixed.

(* ---------- filling: u(x) = the least u(t) + rate * length over walks from x to a fixed t, all of
   whose inner vertices are not fixed *)
Inductive walk (G : graph) (fixed : nat -> Prop) : nat -> nat -> R -> Prop :=
| walk_by a : In a G -> ~ fixed (tail a) -> fixed (head a) -> walk G fixed (tail a) (head a) (len a)
| walk_on a t l : In a G -> ~ fixed (tail a) -> ~ fixed (head a) -> walk G fixed (head a) t l ->
    walk G fixed (tail a) t (len a + l).

Definition is_fill (G : graph) fixed rate (u : field) x s :=
  (exists t l, walk G fixed x t l /\ s = u t + rate * l) /\
  (forall t l, walk G fixed x t l -> s <= u t + rate * l).

Lemma walk_end G fixed x t l : walk G fixed x t l -> fixed t.
Proof. induction 1; auto. Qed.

(** Filling is monotone in the values of the fixed vertices. *)
Theorem fill_monotone G (fixed : nat -> Prop) rate (u v : field) x s r : (forall t, fixed t -> u t <= v t) ->
  is_fill G fixed rate u x s -> is_fill G fixed rate v x r -> s <= r.
Proof.
  intros H [_ Lu] [(t & l & W & ->) _]. specialize (Lu t l W). specialize (H t (walk_end _ _ _ _ _ W)). lra.
Qed.

(* ---------- Theorem 4 for flat fill *)
Section Flat.
Variables (G : graph) (F L : list nat).
Hypothesis Pos : positive G.
Let GF := among G F.

Definition fixed_in (u : field) x := In x L \/ ~ level GF u x.
(* the AMLE, filled flat *)
Definition flat_filled (Y u : field) := solution GF F L Y u /\
  forall x, In x F -> ~ fixed_in u x -> is_fill GF (fixed_in u) 0 u x (u x).

Lemma flat_stays Y u : flat_filled Y u -> forall x, In x F -> Amle.stays_to GF L u x.
Proof.
  intros [_ Fl] x Hx. destruct (in_dec Nat.eq_dec x L) as [HL|HL]; [now apply Amle.stays_label|].
  destruct (level_dec GF u x) as [Le|N]; [|now apply Amle.stays_steep].
  destruct (Fl x Hx) as [(t & l & W & E) _]; [unfold fixed_in; tauto|]. rewrite Rmult_0_l, Rplus_0_r in E.
  assert (End : forall y, fixed_in u y -> Amle.stays_to GF L u y).
  { intros y [Hy|Hy]; [now apply Amle.stays_label | now apply Amle.stays_steep]. }
  assert (Up : forall a, In a GF -> ~ fixed_in u (tail a) -> u (tail a) <= u (head a)).
  { intros a Ha N. destruct (level_dec GF u (tail a)) as [[_ Q]|Q]; [|unfold fixed_in in N; tauto].
    apply Rnot_lt_le. intros D. apply fall_pos in D; [|now apply (among_positive G F Pos)].
    pose proof (steepest_zero _ _ Q a) as Z. rewrite in_out in Z. specialize (Z (conj Ha eq_refl)). lra. }
  assert (Walk : forall x t l, walk GF (fixed_in u) x t l -> u x <= u t).
  { induction 1 as [a Ha N _|a t' l' Ha N _ _ IH]; specialize (Up a Ha N); lra. }
  clear Hx HL Le Fl. induction W as [a Ha N Fi|a t l Ha N Nh W IH].
  - apply Amle.stays_by; auto.
  - specialize (Up a Ha N). specialize (Walk _ _ _ W). apply Amle.stays_by; [assumption | lra | apply IH; lra].
Qed.

Lemma flat_half Y Y' u u' delta : (forall x, In x L -> Y x <= Y' x + delta) ->
  flat_filled Y u -> flat_filled Y' u' -> forall x, In x F -> u x <= u' x + delta.
Proof.
  intros H [[Lu Eu] _] S' x Hx. pose proof (flat_stays Y' u' S') as St. destruct S' as [[Lu' Eu'] _].
  assert (Sh : forall A, steepest (fun y => u' y + delta) A = steepest u' A).
  { intros A. unfold steepest. f_equal. apply map_ext. intros a. unfold fall. f_equal. lra. }
  apply (Amle.comparison GF F L u (fun y => u' y + delta)); auto.
  - now apply among_positive.
  - apply among_within.
  - right; right. intros y Hy. specialize (St y Hy). induction St as [y Q|y Q|a Ha E _ IH].
    + now apply Amle.stays_label.
    + apply Amle.stays_steep. unfold level, S_up, S_down in *. now rewrite !Sh.
    + apply Amle.stays_by; [assumption | lra | apply IH, (among_within G F a Ha), Hy].
  - intros y Hy HL. rewrite Lu, Lu' by assumption. now apply H.
  - intros y Hy HL. rewrite Eu by assumption. lra.
  - intros y Hy HL. unfold S_up, S_down. rewrite !Sh. fold (S_up GF u' y) (S_down GF u' y). rewrite Eu' by assumption. lra.
Qed.

(** Theorem 4, flat fill. Labels that are off by at most delta move the AMLE with flat fill by no more. *)
Theorem flat_near Y Y' u u' delta : (forall x, In x L -> Rabs (Y x - Y' x) <= delta) ->
  flat_filled Y u -> flat_filled Y' u' -> forall x, In x F -> Rabs (u x - u' x) <= delta.
Proof.
  intros H S S' x Hx. apply Rabs_le. assert (u x <= u' x + delta /\ u' x <= u x + delta); [|lra].
  split; [apply (flat_half Y Y') | apply (flat_half Y' Y)]; auto; intros y Hy; specialize (H y Hy);
    pose proof (Rle_abs (Y y - Y' y)); pose proof (Rle_abs (- (Y y - Y' y))) as N; rewrite Rabs_Ropp in N; lra.
Qed.
End Flat.

(** The comparison of pairs of ends in whole numbers (`condition_3`) is condition 3 of Theorem 3
    (`no_descent`), whatever the unit. *)
Theorem no_descent_in_numbers (G : graph) K tails heads fixed (below above : nat -> Z) unit : 0 < unit ->
  (forall x, fixed x = true <-> In x K) ->
  (forall e, In e G -> In (tail e) (tails (head e)) /\ In (head e) (heads (tail e))) ->
  (forall x t t', TwoLeast.leads heads fixed x t -> TwoLeast.leads tails fixed x t' -> t <> t' -> (above t <= below t')%Z) ->
  forall e t, In e G -> In (tail e) K -> ~ In (head e) K -> leads G K (head e) t -> t <> tail e ->
    unit * IZR (above (tail e)) <= unit * IZR (below t).
Proof.
  intros Hu Fx Rows H e t He Kt Kh Ld Ne. apply Rmult_le_compat_l; [lra|]. apply IZR_le.
  assert (Out : forall x, ~ In x K -> fixed x = false) by (intros x N; rewrite <- Fx in N; now destruct (fixed x)).
  apply (H (head e)); [apply TwoLeast.leads_by; [now apply Rows | now apply Out | now apply Fx] | | auto].
  clear H He Kt Kh Ne. induction Ld as [f Hf Nt Ht|f t Hf Nt Nh _ IH].
  - apply TwoLeast.leads_by; [now apply Rows | now apply Out | now apply Fx].
  - apply TwoLeast.leads_on with (head f); [now apply Rows | now apply Out | now apply Out | exact IH].
Qed.
