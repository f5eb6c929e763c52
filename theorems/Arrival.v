(* The probability of arrival (Theorem R), and why a plan leaves the states with h > 0. *)
From Wayfield Require Import Lists Process Cost.
Open Scope R_scope.

Section Arrival.
Variable n : nat.
Variable choices : nat -> choice -> Prop.     (* of the plan: one for known odds, one for all odds *)
Variable ends quits : nat -> bool.
Hypothesis choices_proper : forall x k, choices x k -> proper k.
Hypothesis choices_inside : forall x k o, (x < n)%nat -> choices x k -> In o k -> (next o < n)%nat.
Variable pi : policy.
Hypothesis Le : legal n choices quits pi.

(* ---------- below *)
Variable low : nat -> R.
Definition low_barrier :=
  (forall x, (x < n)%nat -> ends x = true -> low x <= 1) /\
  forall h x q m, (x < n)%nat -> ends x = false -> In (q, m) (pi h x) ->
    match m with Take k => 0 < low x -> 0 <= Rise k low x | _ => low x <= 0 end.
(* walks are stopped where they end, and where low <= 0 *)
Definition leaves x := ends x || (if Rle_dec (low x) 0 then true else false).

Lemma leaves_true x : leaves x = true <-> ends x = true \/ low x <= 0.
Proof. unfold leaves. rewrite orb_true_iff. destruct (Rle_dec (low x) 0); intuition congruence. Qed.
Lemma leaves_false x : leaves x = false <-> ends x = false /\ 0 < low x.
Proof. unfold leaves. rewrite orb_false_iff. destruct (Rle_dec (low x) 0); intuition (try congruence; lra). Qed.

(* a walk that is stopped sooner has arrived less often, and is alive less often *)
Lemma stopped t h x : (x < n)%nat ->
  value leaves 0 (fun x => if ends x then 1 else 0) 0 0 pi t h x <= arrive ends pi t h x /\
  alive leaves pi t h x <= alive ends pi t h x.
Proof.
  assert (S : forall e gu op g, (forall x, leaves x = true -> if ends x then e x <= g x else e x <= 0) ->
    (forall t h x, (x < n)%nat -> 0 <= value ends 0 g gu op pi t h x) ->
    forall t h x, (x < n)%nat -> value leaves 0 e gu op pi t h x <= value ends 0 g gu op pi t h x).
  { clear t h x. intros e gu op g E N. induction t as [|t IH]; intros h x Hx; specialize (E x);
      [pose proof (N 0%nat h x Hx) as P | pose proof (N (Datatypes.S t) h x Hx) as P]; simpl in *; destruct (leaves x) eqn:L;
      try (destruct (ends x); specialize (E eq_refl); lra); apply leaves_false in L as [-> _]; [lra|].
    apply (moves_le Le); [assumption|]. intros q [| |k] _ Al; try lra. simpl in Al.
    apply mean_le; [eauto|]. intros o Ho. specialize (IH ((x, k, o) :: h) (next o) ltac:(eauto)). lra. }
  intros Hx. split; apply S; auto; try (intros y Ly; apply leaves_true in Ly; destruct (ends y); lra); intros t' h' y Hy;
    apply (value_range choices_proper choices_inside Le) with (hi := 1); auto; intros; lra.
Qed.

(** If the walk surely leaves the states outside F where low > 0, it arrives with a probability of
    at least low, which is a barrier from below. *)
Theorem theorem_R_below : low_barrier -> forall h x, (x < n)%nat -> surely leaves pi h x ->
  forall eps, 0 < eps -> exists T, forall t, (T <= t)%nat -> low x - eps < arrive ends pi t h x.
Proof.
  intros [End Drift] h x Hx Su eps He. destruct (bound_of n low) as (M & HM).
  assert (Main : forall t, low x <= arrive ends pi t h x + M * alive leaves pi t h x).
  { intros t. destruct (stopped t h x Hx) as [A _]. eapply Rle_trans; [|apply Rplus_le_compat_r; exact A].
    unfold alive. rewrite value_linear, Rmult_0_r, Rplus_0_r.
    apply (value_ge choices_proper Le leaves (fun _ x => (x < n)%nat) low); [| |assumption].
    - intros _ y Hy. specialize (HM y Hy). repeat split; [assumption | lra |]. intros L.
      specialize (End y Hy). apply leaves_true in L. destruct (ends y); [specialize (End eq_refl); lra|].
      destruct L; [discriminate | lra].
    - intros h' y q m Hy L Hm Al. apply leaves_false in L. destruct L as [En P]. specialize (Drift h' y q m Hy En Hm).
      destruct m as [| |k]; auto. split; [eauto|]. apply drift; [eauto|]. specialize (Drift P). lra. }
  destruct (surely_cv choices_proper choices_inside Le leaves h x M Hx Su eps He) as (T & HT).
  exists T. intros t Ht. specialize (HT t Ht). apply Rabs_def2 in HT. specialize (Main t). lra.
Qed.

(** A walk that surely ends leaves the states with low > 0. *)
Theorem ending_leaves h x : (x < n)%nat -> surely ends pi h x -> surely leaves pi h x.
Proof.
  intros Hx Su eps He. destruct (Su eps He) as (T & HT). exists T. intros t Ht. specialize (HT t Ht).
  destruct (stopped t h x Hx). lra.
Qed.

(** A walk leaves them, too, if a field falls in the mean, by a fixed amount, at each of its moves there. *)
Theorem falling_leaves b eta : 0 < eta ->
  (forall h x q m, (x < n)%nat -> ends x = false -> 0 < low x -> In (q, m) (pi h x) ->
    match m with Stay => False | GiveUp => True | Take k => mean k (fun o => b (next o)) <= b x - eta end) ->
  forall h x, (x < n)%nat -> surely leaves pi h x.
Proof.
  intros He Drop h x Hx. apply (drop_surely choices_proper choices_inside Le leaves (fun _ => True) b eta); auto.
  intros h' y q m Hy _ L Hm. apply leaves_false in L. specialize (Drop h' y q m Hy (proj1 L) (proj2 L) Hm). destruct m; auto.
Qed.

(* ---------- above *)
Variable high : nat -> R.
Definition high_barrier :=
  (forall x, (x < n)%nat -> ends x = true -> 1 <= high x) /\
  forall h x q m, (x < n)%nat -> ends x = false -> In (q, m) (pi h x) ->
    match m with Take k => high x < 1 -> Rise k high x <= 0 | _ => 0 <= high x end.

Lemma R_above_finite M : high_barrier -> 0 <= M -> (forall x, (x < n)%nat -> - M <= high x) ->
  forall t h x, (x < n)%nat -> arrive ends pi t h x + - M * alive ends pi t h x <= high x.
Proof.
  intros [End Drift] M0 HM t h x Hx. apply Rle_trans with (Rmin (high x) 1); [|apply Rmin_l].
  unfold arrive, alive. rewrite value_linear, Rmult_0_r, Rplus_0_r.
  apply (value_le choices_proper Le ends (fun _ x => (x < n)%nat) (fun x => Rmin (high x) 1)); [| |assumption].
  - intros _ y Hy. specialize (HM y Hy). specialize (End y Hy). repeat split; [assumption | apply Rmin_glb; lra |].
    intros En. specialize (End En). apply Rmin_glb; lra.
  - intros h' y q m Hy En Hm Al. specialize (Drift h' y q m Hy En Hm).
    destruct m as [| |k]; auto; [apply Rmin_glb; lra|]. simpl in Al. split; [eauto|]. pose proof (choices_proper y k Al) as Pr.
    assert (One : mean k (fun o => 0 * cost o + Rmin (high (next o)) 1) <= 1).
    { apply mean_most; [assumption|]. intros o _. pose proof (Rmin_r (high (next o)) 1). lra. }
    apply Rmin_glb; [|exact One]. destruct (Rle_dec 1 (high y)) as [|H1]; [lra|].
    eapply Rle_trans; [|apply (drift 0 k high y); [assumption | specialize (Drift ltac:(lra)); lra]].
    apply mean_le; [assumption|]. intros o _. apply Rplus_le_compat_l, Rmin_l.
Qed.

(** The walk arrives with a probability of at most high, a barrier from above, if high is not
    negative where it is not known that the walk surely ends. *)
Theorem theorem_R_above : high_barrier -> (forall x, (x < n)%nat -> 0 <= high x \/ exists h, surely ends pi h x) ->
  forall t h x, (x < n)%nat -> arrive ends pi t h x <= high x.
Proof.
  intros Hi Or t h x Hx. assert (Pos : forall y, (y < n)%nat -> 0 <= high y).
  { intros y Hy. destruct (Or y Hy) as [|(h' & Su)]; [assumption|]. apply Rnot_lt_le. intros N.
    destruct (bound_of n high) as (M & HM).
    destruct (surely_cv choices_proper choices_inside Le ends h' y M Hy Su (- high y)) as (T & HT); [lra|].
    specialize (HT T (le_n _)). apply Rabs_def2 in HT.
    pose proof (R_above_finite M Hi ltac:(specialize (HM y Hy); lra) ltac:(apply HM) T h' y Hy).
    enough (0 <= arrive ends pi T h' y) by lra.
    apply (value_range choices_proper choices_inside Le) with (hi := 1); auto; intros; lra. }
  pose proof (R_above_finite 0 Hi (Rle_refl 0) ltac:(intros y Hy; specialize (Pos y Hy); lra) t h x Hx). lra.
Qed.
End Arrival.

(* ---------- ranks: a plan with known odds leaves the states with low > 0, though some of them may
   have an infinite cost *)
Section Ranks.
Variable n : nat.
Variable choices : nat -> choice -> Prop.
Variable ends quits infinite : nat -> bool.
Variables (Y : nat -> R) (price : R) (plan : nat -> move) (rank : nat -> nat) (u low : nat -> R).
Hypothesis choices_proper : forall x k, choices x k -> proper k.
Hypothesis choices_inside : forall x k o, (x < n)%nat -> choices x k -> In o k -> (next o < n)%nat.
Hypothesis plan_allowed : forall x, (x < n)%nat -> ends x = false -> allowed choices quits x (plan x).
Hypothesis upper : super_cost n ends Y price infinite plan rank u.
Hypothesis no_move : forall x, (x < n)%nat -> ends x = false -> 0 < low x -> exists k, plan x = Take k.
Hypothesis ways_out : forall x k, (x < n)%nat -> ends x = false -> 0 < low x -> infinite x = true ->
  plan x = Take k -> exists o, In o k /\
    (ends (next o) = true \/ infinite (next o) = false \/ low (next o) <= 0 \/ (rank (next o) < rank x)%nat).

(** The plan leaves the states with low > 0, if it has an upper barrier where the cost is finite,
    and elsewhere an outcome that ends, has a finite cost, low <= 0 or a lower rank. *)
Theorem leaves_by_ranks : forall h x, (x < n)%nat -> surely (leaves ends low) (by_plan ends plan) h x.
Proof.
  pose proof (by_plan_legal n choices ends quits plan plan_allowed) as Legal.
  destruct (bound_of n u) as (M & HM).
  (* above all others where the cost is infinite *)
  set (top := M + M + 1). set (base := fun x => if leaves ends low x then 0 else if infinite x then top else u x + M).
  assert (Low : forall x, (x < n)%nat -> leaves ends low x = true \/ infinite x = false -> base x <= u x + M < top).
  { intros x Hx Or. specialize (HM x Hx). unfold base, top.
    destruct (leaves ends low x), (infinite x), Or; try discriminate; lra. }
  destruct (ranked n choices ends quits choices_proper plan rank plan_allowed (leaves ends low) base) as (Z & d & Hd & Dr).
  { intros x k Hx En Pl Lv. pose proof (plan_choice n choices ends quits plan plan_allowed x k Hx En Pl) as Ch.
    pose proof (choices_proper x k Ch) as Pr. unfold base at 2 4. rewrite Lv. destruct (infinite x) eqn:Ix.
    - assert (Top : forall o, In o k -> base (next o) <= top).
      { intros o Ho. pose proof (HM _ (choices_inside x k o Hx Ch Ho)). unfold base, top.
        destruct (leaves ends low (next o)), (infinite (next o)); lra. }
      split; [now apply mean_most|]. intros E. destruct (ways_out x k Hx En (proj2 (proj1 (leaves_false _ _ _) Lv)) Ix Pl) as (o & Ho & Wo).
      exists o. split; [assumption|]. pose proof (mean_below k (fun o => base (next o)) top o Pr Top Ho) as B.
      assert (Lower : leaves ends low (next o) = true \/ infinite (next o) = false -> False).
      { intros Or. apply Low in Or as Lt; [|now apply (choices_inside x k)].
        pose proof (Rmult_lt_0_compat _ (top - base (next o)) (share_pos k o Pr Ho) ltac:(lra)). lra. }
      rewrite (leaves_true n) in Lower. tauto.
    - destruct (upper_falls n choices ends Y price quits choices_proper infinite plan rank plan_allowed u x k upper Hx Ix En Pl) as [F R].
      destruct (upper x Hx Ix) as [_ S2]. specialize (S2 En). rewrite Pl in S2.
      assert (Le : mean k (fun o => base (next o)) <= mean k (fun o => u (next o)) + M).
      { rewrite <- (mean_const k M Pr), <- wsum_plus. apply mean_le; [assumption|]. intros o Ho.
        apply Low; [now apply (choices_inside x k) | right; now apply S2]. }
      split; [lra|]. intros E. apply R. lra. }
  apply (falling_leaves n choices ends quits choices_proper choices_inside _ Legal low Z d Hd).
  intros h x q m Hx En Lo Hi. apply by_plan_move in Hi; [|assumption]. destruct (no_move x Hx En Lo) as (k & Pl).
  rewrite Pl in Hi. subst m. apply (Dr x k Hx En Pl). now apply leaves_false.
Qed.
End Ranks.
