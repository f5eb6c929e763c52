(* The p-Laplacian: a subsolution lies below a supersolution. *)
From Wayfield Require Import Lists Graph.
Open Scope R_scope.

Section Flux.
Variable phi : R -> R.
Hypothesis increasing : forall s t, s < t -> phi s < phi t.

Definition flux (v : field) (a : arc) := phi ((v (head a) - v (tail a)) / len a).
Definition balance (G : graph) (v : field) x := rsum (flux v) (out G x).

Lemma monotone s t : s <= t -> phi s <= phi t.
Proof. intros [H| ->]; [left; now apply increasing | lra]. Qed.
Lemma injective s t : phi s = phi t -> s = t.
Proof. intros E. destruct (Rtotal_order s t) as [H|[H|H]]; [|exact H|]; apply increasing in H; lra. Qed.

(* D holds the vertices in question, L the labelled ones. *)
Lemma comparison (G : graph) (D L : list nat) v u : positive G -> within G D -> (forall x, In x D -> reaches G L x) ->
  no_higher D L (balance G) v u.
Proof.
  intros Pos Wi Rea Lab Sub Sup x0 Hx0. destruct (Rle_dec (v x0) (u x0)) as [|N]; [assumption|exfalso].
  destruct (largest_of_all (fun x => v x - u x) D x0 Hx0) as (m & Hm & Mm).
  pose proof (Mm x0 Hx0) as Hmu. simpl in Hmu.
  (* M is closed along arcs *)
  assert (K : forall x, reaches G L x -> In x D -> v x - u x = v m - u m -> False); [|now apply (K m (Rea m Hm))].
  induction 1 as [x Hx|a Ha _ IH]; intros HD E; [specialize (Lab x HD Hx); lra|].
  assert (NL : ~ In (tail a) L) by (intros F; specialize (Lab _ HD F); lra).
  assert (Hh : In (head a) D) by now apply (Wi a Ha). apply IH; [assumption|]. specialize (Mm _ Hh) as Ma. simpl in Ma.
  assert (Ea : flux v a = flux u a).
  { apply (sums_agree _ _ (out G (tail a))); [| |now apply in_out].
    - intros b Hb. apply (out_within _ D) in Hb as (Hb & Eb & Hy); auto. apply monotone, div_le; [now apply Pos|].
      specialize (Mm _ Hy). simpl in Mm. rewrite Eb. lra.
    - pose proof (Sub _ HD NL). pose proof (Sup _ HD NL). unfold balance in *. lra. }
  apply injective, Req_le_sym, div_le in Ea; [lra | now apply Pos].
Qed.
End Flux.
