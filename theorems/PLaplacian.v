(* The p-Laplacian: a subsolution lies below a supersolution. *)
From Coq Require Import Reals List Lia Lra Arith.
From Wayfield Require Import Graph.
Import ListNotations.
Open Scope R_scope.

Section Flux.
Variable phi : R -> R.
Hypothesis increasing : forall s t, s < t -> phi s < phi t.

Definition total (A : list R) := fold_right Rplus 0 A.
Definition flux (v : field) (a : arc) := phi ((v (head a) - v (tail a)) / len a).
Definition balance (G : graph) (v : field) x := total (map (flux v) (out G x)).

Lemma monotone s t : s <= t -> phi s <= phi t.
Proof. intros [H| ->]; [left; now apply increasing | lra]. Qed.
Lemma injective s t : phi s = phi t -> s = t.
Proof. intros E. destruct (Rtotal_order s t) as [H|[H|H]]; [|exact H|]; apply increasing in H; lra. Qed.

Lemma totals_agree (f g : arc -> R) A : (forall a, In a A -> f a <= g a) -> total (map g A) <= total (map f A) ->
  forall a, In a A -> f a = g a.
Proof.
  assert (T : forall A, (forall a, In a A -> f a <= g a) -> total (map f A) <= total (map g A)).
  { induction A0 as [|b A0 IH]; simpl; intros H; [lra|]. pose proof (H b (or_introl eq_refl)).
    assert (total (map f A0) <= total (map g A0)) by (apply IH; intros; apply H; now right). lra. }
  induction A as [|b A IH]; simpl; intros H E a; [easy|]. pose proof (H b (or_introl eq_refl)).
  assert (H' : forall a, In a A -> f a <= g a) by (intros; apply H; now right). pose proof (T A H').
  intros [<-|Ha]; [lra | apply IH; [assumption | lra | assumption]].
Qed.

(* D holds the vertices in question, L the labelled ones. *)
Lemma comparison (G : graph) (D L : list nat) (v u : field) : positive G -> within G D ->
  (forall x, In x D -> reaches G L x) ->
  (forall x, In x D -> In x L -> v x <= u x) ->
  (forall x, In x D -> ~ In x L -> 0 <= balance G v x) ->
  (forall x, In x D -> ~ In x L -> balance G u x <= 0) ->
  forall x, In x D -> v x <= u x.
Proof.
  intros Pos Wi Rea Lab Sub Sup x0 Hx0. destruct (Rle_dec (v x0) (u x0)) as [|N]; [assumption|exfalso].
  destruct (largest_of_all (fun x => v x - u x) D x0 Hx0) as (m & Hm & Mm).
  pose proof (Mm x0 Hx0) as Hmu. simpl in Hmu.
  (* M is closed along arcs *)
  assert (C : forall a, In a G -> In (tail a) D -> v (tail a) - u (tail a) = v m - u m ->
                        v (head a) - u (head a) = v m - u m). { intros a Ha Ht E.
    assert (NL : ~ In (tail a) L) by (intros F; specialize (Lab _ Ht F); lra).
    assert (T : forall b, In b (out G (tail a)) -> flux v b = flux u b). { apply totals_agree.
      - intros b Hb. apply in_out in Hb. destruct Hb as [Hb Eb]. unfold flux. apply monotone.
        apply div_le; [now apply Pos|]. assert (Hb2 : In (head b) D) by (apply (Wi b Hb); now rewrite Eb).
        specialize (Mm _ Hb2). simpl in Mm. rewrite Eb. lra.
      - pose proof (Sub _ Ht NL). pose proof (Sup _ Ht NL). unfold balance in *. lra. }
    assert (Ea : flux v a = flux u a) by (apply T, in_out; auto).
    unfold flux in Ea. apply injective in Ea. apply div_eq in Ea; [|now apply Pos]. lra. }
  assert (K : forall x, reaches G L x -> In x D -> v x - u x = v m - u m -> False).
  { induction 1 as [x Hx|a Ha _ IH]; intros HD E.
    - specialize (Lab x HD Hx). lra.
    - apply IH; [now apply (Wi a Ha) | now apply C]. } apply (K m); auto.
Qed.

End Flux.
