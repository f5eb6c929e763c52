(* The AMLE with filled vertices, on directed graphs: uniqueness, which vertices it fixes and the
   bracket there (Theorem 3), filling, and rounded corrections with flat fill (Theorem 4). *)
From Wayfield Require Import Lists Graph Existence.
From Wayfield Require Amle TwoLeast.
Open Scope R_scope.

(* ---------- two solutions agree where one of them is not level *)
Section Unique.
Variables (G : graph) (D L : list nat) (Y : field).
Hypothesis Pos : positive G.
Hypothesis Wi : within G D.

(* on the vertices that are labelled, or not level in both, other arcs do not matter *)
Lemma not_above u v : solution G D L Y u -> solution G D L Y v ->
  forall x, In x D -> ~ In x L -> ~ (level G u x /\ level G v x) -> v x <= u x.
Proof.
  intros Su Sv x Hx HL NP. set (Q := fun y => In y L \/ ~ (level G u y /\ level G v y)).
  assert (dec : forall y, {Q y} + {~ Q y}).
  { intros y. unfold Q. destruct (in_dec Nat.eq_dec y L), (level_dec G u y), (level_dec G v y); tauto. }
  set (K := those dec D). assert (HK : forall y, In y K <-> In y D /\ Q y) by apply in_those.
  assert (Kept : forall w y, w = u \/ w = v -> In y K -> S_up (among G K) w y = S_up G w y /\ S_down (among G K) w y = S_down G w y).
  { intros w y Hw Hy. apply kept; [assumption|]. assert (Le : forall z, In z D -> ~ In z K -> level G w z).
    { intros z Hz N. rewrite HK in N. unfold Q in N. destruct (level_dec G u z), (level_dec G v z), Hw; subst; tauto. }
    apply HK in Hy. intros e He [[<- N]|[<- N]].
    - apply (steepest_zero w (into G (head e))); [apply Le; [now apply (Wi e He) | assumption] | now apply in_into].
    - apply (steepest_zero w (out G (tail e))); [apply Le; [now apply (Wi e He) | assumption] | now apply in_out]. }
  apply (Amle.comparison (among G K) K L v u); [now apply among_positive | apply among_within | | | | | apply HK; now split; [|right]];
    intros y Hy; destruct (Kept u y ltac:(auto) Hy) as [U1 U2], (Kept v y ltac:(auto) Hy) as [V1 V2]; apply HK in Hy as [Hy Or].
  - destruct Or as [|N]; [now apply Amle.way_label|]. apply Amle.way_steep. unfold level in *. rewrite U1, U2, V1, V2. tauto.
  - intros Ly. destruct Su as [Lu _], Sv as [Lv _]. rewrite Lu, Lv by tauto. lra.
  - intros Ly. unfold balance_amle. rewrite V1, V2. destruct Sv as [_ Sv]. rewrite Sv by tauto. lra.
  - intros Ly. unfold balance_amle. rewrite U1, U2. destruct Su as [_ Su]. rewrite Su by tauto. lra.
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
    destruct (steepest_attained v _ S) as (a & Ha & Fa). pose proof (steepest_zero _ _ (proj1 Le) a Ha) as Z.
    apply (into_within _ D) in Ha as (Ha & <- & Ht); auto. fold (S_up G v (head a)) in Fa. rewrite <- Fa in S. apply fall_pos in S; [|now apply Pos].
    pose proof (Eq (head a) Hx ltac:(tauto)). pose proof (Eq (tail a) Ht (or_intror (fun N => not_level G v a Pos Ha S (proj2 N)))).
    assert (0 < fall u a) by (apply fall_pos; [now apply Pos | lra]). lra. }
  intros x Hx HL. split; [split; apply Half; auto | intros N; apply Eq; tauto].
  intros y Hy H. symmetry. apply Eq; tauto.
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
  destruct (amle_exists GK K L Y PK WK) as (w & W2 & W3).
  exists w. split; [|split; [intros; apply W2; auto | intros; now apply Rminus_diag_uniq, W3]].
  assert (Steep : forall v u x, In x K -> v = a \/ u = b -> Amle.way GK L v u x).
  { intros v u x Hx Or. destruct (in_dec Nat.eq_dec x L) as [|HL]; [now apply Amle.way_label|].
    destruct (descends x Hx HL) as (e & He & <- & Hh & Dn). pose proof (ordered _ Hx). pose proof (ordered _ Hh).
    assert (HG : In e GK) by now apply in_among. apply Amle.way_steep.
    destruct Or as [->| ->]; [intros [N _] | intros [_ N]]; (apply (not_level GK) in N; auto; lra). }
  intros x Hx. split; [apply (Amle.comparison GK K L a w) | apply (Amle.comparison GK K L w b)]; auto; intros z Hz HL;
    try (rewrite W2 by assumption; now apply label_enclosed); try (rewrite W3 by assumption; lra);
    unfold balance_amle, GK; [specialize (sub z Hz HL) | specialize (super z Hz HL)]; lra.
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
  destruct (bounded w K) as (M & M0 & Bd).
  destruct (suprema (fun x s => exists t, leads G K x t /\ s = - w t) (- M) M) as (g & Hg); [lra | |].
  { intros x s (t & Ht & ->). apply leads_end in Ht. destruct (Bd t); [tauto | lra]. }
  exists (fun x => if in_dec Nat.eq_dec x K then w x else - g x). split; [|split]; intros x.
  - intros Hx. now destruct (in_dec Nat.eq_dec x K).
  - intros t Hx Ht. destruct (in_dec Nat.eq_dec x K), (Hg x) as [Up _]; [contradiction|].
    specialize (Up (- w t) ltac:(now exists t)). lra.
  - intros c Hx (t0 & H0 & C0) Hc. destruct (in_dec Nat.eq_dec x K), (Hg x) as [_ Le]; [contradiction|].
    enough (g x <= - c) by lra. apply Le; [destruct (Bd t0 H0); lra|]. intros s (t & Ht%Hc & ->). lra.
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
  assert (Same : forall x, In x K -> S_up GF f x = S_up GK w x /\ S_down GF f x = S_down GK w x).
  { assert (Eq : forall A B, (forall e, In e A -> In e GF) -> (forall e, In e B <-> In e A /\ In e GK) -> steepest f A = steepest w B).
    { intros A B HA HB. rewrite <- (steepest_more f A B).
      - unfold steepest. f_equal. apply map_ext_in. intros e He. apply HB in He as [_ He]. apply in_among in He. unfold fall. now rewrite !F1 by tauto.
      - intros e He. now apply HB.
      - intros e He N. rewrite HB in N. apply HA in He as HF. apply Falls; [assumption|]. intros NK. apply N. split; [assumption|]. apply in_among in HF. apply in_among. tauto. }
    intros x Hx. split; apply Eq; intros e; unfold GF, GK; rewrite ?in_into, ?in_out, ?in_among; intuition. }
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
  - intros x HF HL. split; [|apply Level]. intros Le HK. destruct (descends x HK HL) as (e & He & <- & Hh & Dn).
    apply (not_level GF) in Le; [assumption | exact PF | apply in_among; auto |].
    pose proof (W _ HK). pose proof (W _ Hh). rewrite !F1 by assumption. lra.
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
  intros u Su. split; [|split; [now apply Fix|]].
  - intros x HK. rewrite (Eq u Su x HK). now apply Bf.
  - intros v Sv x HK. now rewrite (Eq u Su x HK), (Eq v Sv x HK).
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

(** Filling is monotone in the values of the fixed vertices. *)
Theorem fill_monotone G (fixed : nat -> Prop) rate (u v : field) x s r : (forall t, fixed t -> u t <= v t) ->
  is_fill G fixed rate u x s -> is_fill G fixed rate v x r -> s <= r.
Proof.
  intros H [_ Lu] [(t & l & W & ->) _]. specialize (Lu t l W).
  assert (F : fixed t) by (clear Lu; induction W; assumption). specialize (H t F). lra.
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

Lemma flat_way Y u v : flat_filled Y u -> forall x, In x F -> Amle.way GF L v u x.
Proof.
  intros [_ Fl] x Hx. assert (End : forall y, fixed_in u y -> Amle.way GF L v u y).
  { intros y [Hy|Hy]; [now apply Amle.way_label | apply Amle.way_steep; tauto]. }
  destruct (in_dec Nat.eq_dec x L) as [HL|HL]; [now apply Amle.way_label|].
  destruct (level_dec GF u x) as [Le|N]; [|apply Amle.way_steep; tauto].
  destruct (Fl x Hx) as [(t & l & W & E) _]; [unfold fixed_in; tauto|]. rewrite Rmult_0_l, Rplus_0_r in E.
  assert (Up : forall a, In a GF -> ~ fixed_in u (tail a) -> u (tail a) <= u (head a)).
  { intros a Ha N. apply Rnot_lt_le. intros D. apply (not_level GF) in D; [unfold fixed_in in N; tauto | now apply among_positive | assumption]. }
  assert (Walk : forall x t l, walk GF (fixed_in u) x t l -> u x <= u t).
  { induction 1 as [a Ha N _|a t' l' Ha N _ _ IH]; specialize (Up a Ha N); lra. }
  clear Hx HL Le Fl. induction W as [a Ha N Fi|a t l Ha N Nh W IH].
  - apply Amle.way_on; auto.
  - specialize (Up a Ha N). specialize (Walk _ _ _ W). apply Amle.way_on; [assumption | left; lra | apply IH; lra].
Qed.

Lemma flat_half Y Y' u u' delta : (forall x, In x L -> Y x <= Y' x + delta) ->
  flat_filled Y u -> flat_filled Y' u' -> forall x, In x F -> u x <= u' x + delta.
Proof.
  intros H [[Lu Eu] _] S' x Hx. enough (u x + - delta <= u' x) by lra.
  apply (Amle.comparison GF F L (fun y => u y + - delta) u'); auto.
  - now apply among_positive.
  - apply among_within.
  - now apply (flat_way Y').
  - intros y Hy HL. destruct S' as [[Lu' _] _]. rewrite Lu, Lu' by assumption. specialize (H y HL). lra.
  - intros y Hy HL. pose proof (Eu y Hy HL). unfold balance_amle, S_up, S_down in *. rewrite !steepest_shift. lra.
  - intros y Hy HL. destruct S' as [[_ Eu'] _]. unfold balance_amle. rewrite Eu' by assumption. lra.
Qed.

(** Theorem 4, flat fill. Labels that are off by at most delta move the AMLE with flat fill by no more. *)
Theorem flat_near Y Y' u u' delta : (forall x, In x L -> Rabs (Y x - Y' x) <= delta) ->
  flat_filled Y u -> flat_filled Y' u' -> forall x, In x F -> Rabs (u x - u' x) <= delta.
Proof.
  intros H S S' x Hx. apply Rabs_le. assert (u x <= u' x + delta /\ u' x <= u x + delta); [|lra].
  split; [apply (flat_half Y Y') | apply (flat_half Y' Y)]; auto; intros y Hy; specialize (H y Hy); apply Rabs_between in H; lra.
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
