(* The AMLE on directed and undirected graphs: a subsolution lies below a supersolution. *)
From Coq Require Import Reals List Lia Lra Arith.
From Wayfield Require Import Graph.
Import ListNotations.
Open Scope R_scope.

(* along arcs on which u does not change one comes to a label, or to a vertex that is not level *)
Inductive stays_to (G : graph) (L : list nat) (u : field) : nat -> Prop :=
| stays_label x : In x L -> stays_to G L u x
| stays_steep x : ~ level G u x -> stays_to G L u x
| stays_by a : In a G -> u (head a) = u (tail a) -> stays_to G L u (head a) -> stays_to G L u (tail a).

(* Either the graph is undirected and every vertex is connected to a label, or at every free vertex
   an arc descends in one of the two fields, or the upper one is filled flat. *)
Lemma comparison (G : graph) (D L : list nat) (v u : field) : positive G -> within G D ->
  (undirected G /\ (forall x, In x D -> reaches G L x)) \/
  (forall x, In x D -> ~ In x L ->
     exists a, In a G /\ tail a = x /\ (v (head a) < v x \/ u (head a) < u x)) \/
  (forall x, In x D -> stays_to G L u x) ->
  (forall x, In x D -> In x L -> v x <= u x) ->
  (forall x, In x D -> ~ In x L -> S_down G v x <= S_up G v x) ->
  (forall x, In x D -> ~ In x L -> S_up G u x <= S_down G u x) ->
  forall x, In x D -> v x <= u x.
Proof.
  intros Pos Wi Way Lab Sub Sup x0 Hx0. destruct (Rle_dec (v x0) (u x0)) as [|N]; [assumption|exfalso].
  destruct (largest_of_all (fun x => v x - u x) D x0 Hx0) as (m & Hm & Mm).
  pose proof (Mm x0 Hx0) as Hmu. simpl in Hmu, Mm. set (mu := v m - u m) in *.
  assert (NL : forall x, In x D -> v x - u x = mu -> ~ In x L). { intros x Hx E F. specialize (Lab _ Hx F). lra. }
  (* on the set M where v - u is largest all four slopes are equal *)
  assert (Four : forall x, In x D -> v x - u x = mu ->
            S_up G v x = S_up G u x /\ S_up G u x = S_down G u x /\ S_down G u x = S_down G v x). { intros x Hx E.
    assert (A : S_up G v x <= S_up G u x). { apply steepest_le; [apply steepest_nonneg|]. intros a Ha.
      eapply Rle_trans; [|apply fall_le_steepest; exact Ha]. apply in_into in Ha. destruct Ha as [Ha Eh]. unfold fall.
      apply div_le; [now apply Pos|]. assert (Ht : In (tail a) D) by (apply (Wi a Ha); now rewrite Eh). specialize (Mm _ Ht).
      rewrite Eh. lra. }
    assert (B : S_down G u x <= S_down G v x). { apply steepest_le; [apply steepest_nonneg|]. intros a Ha.
      eapply Rle_trans; [|apply fall_le_steepest; exact Ha]. apply in_out in Ha. destruct Ha as [Ha Et]. unfold fall.
      apply div_le; [now apply Pos|]. assert (Hh : In (head a) D) by (apply (Wi a Ha); now rewrite Et). specialize (Mm _ Hh).
      rewrite Et. lra. }
    pose proof (Sub x Hx (NL x Hx E)). pose proof (Sup x Hx (NL x Hx E)). lra. }
  (* where there is a slope, v would climb for ever *)
  assert (Flat : forall x, In x D -> v x - u x = mu -> S_up G v x = 0).
  { intros x Hx E. destruct (Req_dec (S_up G v x) 0) as [|NZ]; [assumption|exfalso].
    assert (dec : forall x, {v x - u x = mu /\ 0 < S_up G v x} + {~ (v x - u x = mu /\ 0 < S_up G v x)}).
    { intros z. destruct (Req_EM_T (v z - u z) mu); destruct (Rlt_dec 0 (S_up G v z)); tauto. }
    destruct (largest _ dec v D) as (z & Hz & (Ez & Pz) & Mz). { exists x. split; [assumption|]. split; [assumption|].
      pose proof (steepest_nonneg v (into G x)). unfold S_up in *. lra. }
    destruct (steepest_attained v (into G z) Pz) as (a & Ha & Fa). destruct (Four z Hz Ez) as (F1 & F2 & F3).
    pose proof (fall_le_steepest u _ _ Ha) as Ua. apply in_into in Ha. destruct Ha as [Ha Eh].
    assert (Ht : In (tail a) D) by (apply (Wi a Ha); now rewrite Eh).
    pose proof (Mm _ Ht) as Mt. pose proof (Pos a Ha) as Pa. assert (Le : fall v a <= fall u a).
    { unfold fall. apply div_le; [assumption|]. rewrite Eh. lra. }
    assert (Eq : fall v a = fall u a) by (unfold S_up in *; lra).
    unfold fall in Eq. apply div_eq in Eq; [|assumption]. rewrite Eh in Eq.
    assert (Et : v (tail a) - u (tail a) = mu) by lra. assert (Up : v z < v (tail a)).
    { unfold S_up in Pz. rewrite <- Fa in Pz. unfold fall in Pz. rewrite div_pos in Pz by assumption.
      rewrite Eh in Pz. lra. }
    destruct (Four _ Ht Et) as (G1 & G2 & G3). assert (Q : 0 < S_up G v (tail a)).
    { rewrite G1, G2, G3. eapply Rlt_le_trans with (fall v a); [unfold S_up in Pz; lra|].
      apply fall_le_steepest, in_out. auto. }
    specialize (Mz _ Ht (conj Et Q)). lra. }
  destruct Way as [[Und Rea]|[Slope|Stay]].
  - (* plateaus spread to a label *)
    assert (C : forall a, In a G -> In (tail a) D -> v (tail a) - u (tail a) = mu -> v (head a) - u (head a) = mu).
    { intros a Ha Ht E. pose proof (proj1 (Wi a Ha) Ht) as Hh.
      destruct (Four _ Ht E) as (F1 & F2 & F3). pose proof (Flat _ Ht E) as Z. pose proof (Pos a Ha) as Pa.
      assert (Level : forall w, S_up G w (tail a) = 0 -> S_down G w (tail a) = 0 -> w (head a) = w (tail a)).
      { intros w Hu Hd. unfold S_up in Hu. unfold S_down in Hd.
        assert (fall w a <= 0) by (rewrite <- Hd; apply fall_le_steepest, in_out; auto).
        assert (fall w (reversed a) <= 0).
        { rewrite <- Hu. apply fall_le_steepest, in_into. split; [now apply Und | reflexivity]. }
        unfold fall, reversed in *. simpl in *.
        destruct (Rtotal_order (w (head a)) (w (tail a))) as [Lt|[Eq|Gt]]; [exfalso|exact Eq|exfalso].
        - assert (0 < (w (tail a) - w (head a)) / len a) by (apply div_pos; lra). lra.
        - assert (0 < (w (head a) - w (tail a)) / len a) by (apply div_pos; lra). lra. }
      rewrite (Level v), (Level u); lra. }
    assert (K : forall x, reaches G L x -> In x D -> v x - u x = mu -> False).
    { induction 1 as [x Hx|a Ha _ IH]; intros HD E.
      - now apply (NL x HD E).
      - apply IH; [now apply (Wi a Ha) | now apply C]. }
    apply (K m); auto.
  - (* no plateaus *) assert (E : v m - u m = mu) by reflexivity.
    destruct (Four _ Hm E) as (F1 & F2 & F3). pose proof (Flat _ Hm E) as Z.
    destruct (Slope m Hm (NL m Hm E)) as (a & Ha & Et & [Dv|Du]);
      assert (Ia : In a (out G m)) by (apply in_out; auto); pose proof (Pos a Ha) as Pa.
    + pose proof (fall_le_steepest v _ _ Ia) as Hf. unfold fall in Hf. rewrite Et in Hf.
      assert (0 < (v m - v (head a)) / len a) by (apply div_pos; lra). unfold S_up, S_down in *. lra.
    + pose proof (fall_le_steepest u _ _ Ia) as Hf. unfold fall in Hf. rewrite Et in Hf.
      assert (0 < (u m - u (head a)) / len a) by (apply div_pos; lra). unfold S_up, S_down in *. lra.
  - (* along flat arcs v does not descend either *)
    assert (K : forall x, stays_to G L u x -> In x D -> v x - u x = mu -> False).
    { induction 1 as [x Hx|x Hx|a Ha E _ IH]; intros HD Em.
      - now apply (NL x HD Em).
      - apply Hx. destruct (Four x HD Em) as (F1 & F2 & F3). pose proof (Flat x HD Em). unfold level. lra.
      - pose proof (proj1 (Wi a Ha) HD) as Hh. apply IH; [assumption|]. destruct (Four _ HD Em) as (F1 & F2 & F3).
        pose proof (Flat _ HD Em) as Z. assert (Q : ~ 0 < fall v a).
        { assert (fall v a <= S_down G v (tail a)) by (apply fall_le_steepest, in_out; auto). lra. }
        rewrite fall_pos in Q by now apply Pos. specialize (Mm _ Hh). lra. }
    now apply (K m (Stay m Hm)).
Qed.
