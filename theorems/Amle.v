(* The AMLE on directed and undirected graphs: a subsolution lies below a supersolution. *)
From Wayfield Require Import Lists Graph.
Open Scope R_scope.

(* along arcs that are flat in u, or open both ways, one comes to a label, or to a vertex that is not level in both *)
Inductive way (G : graph) (L : list nat) (v u : field) : nat -> Prop :=
| way_label x : In x L -> way G L v u x
| way_steep x : ~ (level G v x /\ level G u x) -> way G L v u x
| way_on a : In a G -> u (head a) = u (tail a) \/ In (reversed a) G -> way G L v u (head a) -> way G L v u (tail a).

Lemma way_undirected G L v u x : undirected G -> reaches G L x -> way G L v u x.
Proof. intros U. induction 1; [now apply way_label | apply way_on; auto]. Qed.

Lemma comparison (G : graph) (D L : list nat) (v u : field) : positive G -> within G D ->
  (forall x, In x D -> way G L v u x) ->
  no_higher D L (balance_amle G) v u.
Proof.
  intros Pos Wi Way Lab Sub Sup x0 Hx0. destruct (Rle_dec (v x0) (u x0)) as [|N]; [assumption|exfalso].
  destruct (largest_of_all (fun x => v x - u x) D x0 Hx0) as (m & Hm & Mm).
  pose proof (Mm x0 Hx0) as Hmu. simpl in Hmu, Mm. set (mu := v m - u m) in *.
  assert (NL : forall x, In x D -> v x - u x = mu -> ~ In x L) by (intros x Hx E F; specialize (Lab _ Hx F); lra).
  (* on the set M where v - u is largest all four slopes are equal *)
  assert (Four : forall x, In x D -> v x - u x = mu ->
            S_up G v x = S_up G u x /\ S_up G u x = S_down G u x /\ S_down G u x = S_down G v x).
  { intros x Hx E. pose proof (Sub x Hx (NL x Hx E)). pose proof (Sup x Hx (NL x Hx E)). unfold balance_amle in *.
    assert (S_up G v x <= S_up G u x /\ S_down G u x <= S_down G v x); [|lra].
    split; apply steepest_mono; intros a Ha; [apply (into_within _ D) in Ha | apply (out_within _ D) in Ha]; auto;
      destruct Ha as (Ha & <- & Hy); apply fall_le; auto; specialize (Mm _ Hy); lra. }
  (* where there is a slope, v would climb for ever *)
  assert (Flat : forall x, In x D -> v x - u x = mu -> S_up G v x = 0).
  { intros x Hx E. destruct (Rle_lt_dec (S_up G v x) 0) as [Z|P]; [pose proof (steepest_nonneg v (into G x)); unfold S_up in *; lra|exfalso].
    destruct (largest (fun x => v x - u x = mu /\ 0 < S_up G v x)) with (f := v) (D := D) as (z & Hz & (Ez & Pz) & Mz).
    { intros z. destruct (Req_EM_T (v z - u z) mu), (Rlt_dec 0 (S_up G v z)); tauto. } { now exists x. }
    destruct (steepest_attained v (into G z) Pz) as (a & Ha & Fa). destruct (Four z Hz Ez) as (F1 & _).
    pose proof (fall_le_steepest u _ _ Ha) as Ua. apply (into_within _ D) in Ha as (Ha & <- & Ht); auto.
    unfold S_up in F1, Pz. assert (Dn : fall u a <= fall v a) by lra. apply fall_le in Dn; [|now apply Pos]. specialize (Mm _ Ht).
    assert (Et : v (tail a) - u (tail a) = mu) by lra. assert (Up : 0 < fall v a) by lra.
    destruct (Four _ Ht Et) as (G1 & G2 & G3). pose proof (fall_le_steepest v (out G (tail a)) a ltac:(now apply in_out)) as S.
    change (fall v a <= S_down G v (tail a)) in S. assert (Q : 0 < S_up G v (tail a)) by lra.
    specialize (Mz _ Ht (conj Et Q)). apply fall_pos in Up; [lra | now apply Pos]. }
  (* along the way M goes on, to its end *)
  assert (K : forall x, way G L v u x -> In x D -> v x - u x = mu -> False); [|now apply (K m (Way m Hm))].
  induction 1 as [x Hx|x Hx|a Ha Or _ IH]; intros HD E; [now apply (NL x HD E)|..];
    destruct (Four _ HD E) as (F1 & F2 & F3); pose proof (Flat _ HD E) as Z.
  - apply Hx. unfold level. lra.
  - pose proof (proj1 (Wi a Ha) HD) as Hh. apply IH; [assumption|]. specialize (Mm _ Hh).
    assert (Down : forall w e, In e G -> tail e = tail a -> S_down G w (tail a) = 0 -> w (tail a) <= w (head e)).
    { intros w e He Et S. apply Rnot_lt_le. rewrite <- Et in *. intros Dn. apply fall_pos in Dn; [|now apply Pos].
      pose proof (steepest_zero _ _ S e ltac:(now apply in_out)). lra. }
    assert (u (head a) = u (tail a)); [|pose proof (Down v a Ha eq_refl); lra].
    destruct Or as [|Rv]; [assumption|]. apply Rle_antisym; [|apply (Down u a); auto; lra].
    pose proof (steepest_zero u (into G (tail a)) ltac:(unfold S_up in *; lra) (reversed a) ltac:(now apply in_into)) as Le.
    apply Rnot_lt_le. intros Up. apply (fall_pos u (reversed a)) in Up; [lra | now apply Pos].
Qed.
