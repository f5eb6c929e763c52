(* Theorem W: what `prove_process` checks of odds in intervals, worst and best, and what follows.
   Costs and barriers are whole numbers: multiples of the file's unit. *)
From Wayfield Require Import Lists Process Cost Odds.
Open Scope R_scope.

(* odds as a choice with counts: outcomes of probability 0 are left out *)
Definition as_choice (p : list (R * row)) : choice :=
  map (fun qr => Outcome (fst qr) (IZR (fee (snd qr))) (head (snd qr)))
    (filter (fun qr => if Rlt_dec 0 (fst qr) then true else false) p).

Lemma in_choice p o : In o (as_choice p) <-> exists q r, In (q, r) p /\ 0 < q /\ o = Outcome q (IZR (fee r)) (head r).
Proof.
  unfold as_choice. rewrite in_map_iff. split.
  - intros ([q r] & <- & I). apply filter_In in I. simpl in *. destruct (Rlt_dec 0 q); [|easy]. exists q, r. tauto.
  - intros (q & r & I & Q & ->). exists (q, r). split; [reflexivity|]. apply filter_In. simpl. destruct (Rlt_dec 0 q); tauto.
Qed.

Section Choice.
Variables (k : options) (p : list (R * row)).
Hypothesis V : valid k.
Hypothesis O : odds_of k p.

Lemma odds_nonneg q r : In (q, r) p -> 0 <= q.
Proof.
  intros I. pose proof (proj1 (proj2 O) q r I). destruct V as (_ & _ & Vr). specialize (Vr r (odds_in k p q r O I)).
  assert (0 <= IZR (low r)) by (apply IZR_le; lia). lra.
Qed.

Lemma choice_sum f : wsum count f (as_choice p) =
  wsum fst (fun qr => f (Outcome (fst qr) (IZR (fee (snd qr))) (head (snd qr)))) p.
Proof.
  assert (N := odds_nonneg). clear O. unfold as_choice, wsum, rsum. induction p as [|[q r] l IH]; simpl; [reflexivity|].
  assert (E := IH ltac:(intros; eapply N; right; eauto)). pose proof (N q r (or_introl eq_refl)).
  destruct (Rlt_dec 0 q); simpl; rewrite E; [reflexivity|]. assert (q = 0) as -> by lra. lra.
Qed.

Lemma choice_proper : (forall r, In r (rows k) -> (0 <= fee r)%Z) -> proper (as_choice p).
Proof.
  intros F. split.
  - intros E. pose proof (choice_sum (fun _ => 1)) as W. rewrite E in W. destruct O as (_ & _ & T), V as (Tp & _).
    apply IZR_lt in Tp. rewrite <- T, <- (rsum_ext (fun qr => fst qr * 1)) in Tp by (intros; lra).
    apply (Rlt_not_eq _ _ Tp), W.
  - intros o Ho. apply in_choice in Ho. destruct Ho as (q & r & I & Q & ->). simpl. split; [assumption|].
    apply IZR_le, F. eapply odds_in; eauto.
Qed.

(** A comparison with an extreme is one with C + R(f), or with R(f) if nothing is paid. *)
Theorem drift_in_numbers (f : nat -> Z) x :
  C (as_choice p) + Rise (as_choice p) (fun y => IZR (f y)) x = mean_of (fun r => fee r + f (head r))%Z p - IZR (total k * f x) /\
  Rise (as_choice p) (fun y => IZR (f y)) x = mean_of (fun r => f (head r)) p - IZR (total k * f x).
Proof.
  destruct O as (_ & _ & T). rewrite mult_IZR, <- T. unfold C, Rise. rewrite !choice_sum. unfold mean_of, wsum, rsum.
  simpl. clear. induction p as [|[q r] l [A B]]; simpl; [lra|]. rewrite plus_IZR. split; lra.
Qed.
End Choice.

(** R(f) lies between what the least and the largest sum over the odds give, and attains both: so
    `extreme` decides whether R(f) has a sign for all odds of a choice, or for some. *)
Theorem rise_between k (f : nat -> Z) x : valid k ->
  let z side := (extreme side (fun r => f (head r)) (fun _ => false) k - total k * f x)%Z in
  let R p := Rise (as_choice p) (fun y => IZR (f y)) x in
  (forall p, odds_of k p -> IZR (z (-1)%Z) <= R p <= IZR (z 1%Z)) /\
  (exists p, odds_of k p /\ R p = IZR (z (-1)%Z)) /\ exists p, odds_of k p /\ R p = IZR (z 1%Z).
Proof.
  intros V z R. assert (Sp : forall p, spares (fun _ => false) p) by (intros p q r _ E; discriminate).
  assert (E : forall p, odds_of k p -> R p = mean_of (fun r => f (head r)) p - IZR (total k * f x)) by (intros p O; now apply drift_in_numbers).
  destruct (extreme_means k (-1) (fun r => f (head r)) _ (or_intror eq_refl) V (room_all k V)) as (A & p & O & _ & M).
  destruct (extreme_means k 1 (fun r => f (head r)) _ (or_introl eq_refl) V (room_all k V)) as (A' & p' & O' & _ & M').
  split; [|split; [exists p | exists p']; split; auto; rewrite E by assumption; unfold z; rewrite minus_IZR; lra].
  intros w Ow. specialize (A w Ow (Sp w)). specialize (A' w Ow (Sp w)). rewrite mult_IZR in A, A'. rewrite E by assumption.
  unfold z. rewrite !minus_IZR. lra.
Qed.

Section Intervals.
Variable n : nat.
Variable choices : nat -> list options.
Variables (ends quits infinite : nat -> bool) (layer : nat -> nat).
Variables (price : Z) (value_of below above : nat -> Z).
Variable plan : nat -> option options.     (* its choice; None: it gives up *)
Hypothesis choices_valid : forall x k, In k (choices x) -> valid k /\
  forall r, In r (rows k) -> (0 < fee r)%Z /\ (head r < n)%nat.
Hypothesis plan_known : forall x k, (x < n)%nat -> ends x = false -> plan x = Some k -> In k (choices x).

(* ---------- the checks *)
Definition lost r := infinite (head r).
Definition lower x r := infinite (head r) && (layer (head r) <? layer x)%nat.
Definition same x r := infinite (head r) && (layer (head r) =? layer x)%nat.
Definition elsewhere x r := negb (lower x r || same x r).

Definition worst_infinite x k := may_reach (lower x) k || may_stay (same x) k.
Definition best_infinite x k := negb (may_stay (fun r => negb (lower x r)) k) || negb (may_reach (elsewhere x) k).
Definition worst_avoided k := negb (may_reach lost k).
Definition best_avoided k := may_stay (fun r => negb (lost r)) k.
Definition not_undercut side x k := (total k * below x <=? extreme side (fun r => fee r + below (head r)) lost k)%Z.
Definition not_exceeded side x k := (extreme side (fun r => fee r + above (head r)) lost k <=? total k * above x)%Z.

Hypothesis ends_enclosed : forall x, (x < n)%nat -> infinite x = false -> ends x = true ->
  (below x <= value_of x <= above x)%Z.
Hypothesis infinite_never_ends : forall x, (x < n)%nat -> infinite x = true -> ends x = false /\ quits x = false.
Hypothesis giving_up_low : forall x, (x < n)%nat -> infinite x = false -> ends x = false ->
  quits x = true -> (below x <= price)%Z.
Hypothesis giving_up_high : forall x, (x < n)%nat -> infinite x = false -> ends x = false ->
  plan x = None -> quits x = true /\ (price <= above x)%Z.

(* the process in which nature answers a choice with odds of the given kind *)
Definition answer := nat -> options -> list (R * row) -> Prop.
Definition answered (kind : answer) x c :=
  exists k p, In k (choices x) /\ odds_of k p /\ kind x k p /\ c = as_choice p.
(* a policy that takes the plan's choices, while nature answers; the answers may depend on the past *)
Definition follows (kind : answer) (pi : policy) :=
  legal n (answered kind) quits pi /\
  forall h x q m, (x < n)%nat -> ends x = false -> In (q, m) (pi h x) ->
    match plan x with None => m = GiveUp | Some k => exists p, odds_of k p /\ kind x k p /\ m = Take (as_choice p) end.

Lemma answered_proper kind x c : answered kind x c -> proper c.
Proof.
  intros (k & p & Hk & O & _ & ->). destruct (choices_valid x k Hk) as [V F]. apply (choice_proper k); auto.
  intros r Hr. destruct (F r Hr). lia.
Qed.

Lemma answered_inside kind x c o : (x < n)%nat -> answered kind x c -> In o c -> (next o < n)%nat.
Proof.
  intros _ (k & p & Hk & O & _ & ->) I. apply in_choice in I. destruct I as (q & r & I & _ & ->).
  apply (choices_valid x k Hk). eapply odds_in; eauto.
Qed.

(* odds that lead there; and odds that avoid the infinite states *)
Definition hits there (p : list (R * row)) := exists q r, In (q, r) p /\ there r = true /\ 0 < q.
Definition avoids p := forall q r, In (q, r) p -> lost r = true -> q = 0.

Lemma avoids_choice k p : valid k -> odds_of k p -> avoids p <-> forall o, In o (as_choice p) -> infinite (next o) = false.
Proof.
  intros V O. split; intros A.
  - intros o Ho. apply in_choice in Ho as (q & r & I & Q & ->). simpl. destruct (infinite (head r)) eqn:E; [|reflexivity].
    rewrite (A q r I E) in Q. lra.
  - intros q r I L. destruct (odds_nonneg k p V O q r I) as [Q|]; [exfalso | auto].
    assert (infinite (head r) = false); [|unfold lost in L; congruence].
    apply (A (Outcome q (IZR (fee r)) (head r))), in_choice. now exists q, r.
Qed.

Lemma hits_or there k p : valid k -> odds_of k p -> hits there p \/ forall q r, In (q, r) p -> there r = true -> q = 0.
Proof.
  intros V O. destruct (Exists_dec (fun qr => there (snd qr) = true /\ 0 < fst qr) p) as [X|X].
  - intros [q r]. simpl. destruct (Rlt_dec 0 q), (there r); intuition congruence.
  - left. apply Exists_exists in X as ([q r] & I & X). now exists q, r.
  - right. intros q r I T. destruct (odds_nonneg k p V O q r I); [exfalso | auto].
    apply X, Exists_exists. now exists (q, r).
Qed.

Lemma unreached there k p : valid k -> negb (may_reach there k) = true -> odds_of k p ->
  forall q r, In (q, r) p -> there r = true -> q = 0.
Proof.
  intros V A%negb_true_iff O. destruct (hits_or there k p V O) as [(q & r & H)|]; [exfalso | assumption].
  enough (may_reach there k = true) by congruence. apply may_reach_means; [assumption|]. now exists p, q, r.
Qed.

Lemma best_avoids k : valid k -> best_avoided k = true <-> exists p, odds_of k p /\ avoids p.
Proof.
  intros V. unfold best_avoided. rewrite may_stay_means by assumption.
  split; intros (p & O & A); exists p; (split; [assumption|]); intros q r I L; apply (A q r I); [now rewrite L | now apply negb_false_iff].
Qed.

Lemma worst_room k : valid k -> worst_avoided k = true -> best_avoided k = true.
Proof.
  intros V A. apply best_avoids; [assumption|]. destruct (extreme_means k 1 (fun _ => 0%Z) _ (or_introl eq_refl) V (room_all k V)) as (_ & p & O & _).
  exists p. split; [assumption | exact (unreached lost k p V A O)].
Qed.

(* where some odds avoid them, extremes with these outcomes barred are those of the odds that do *)
Lemma extreme_avoiding k side number : side = 1%Z \/ side = (-1)%Z -> valid k -> best_avoided k = true ->
  (forall p, odds_of k p -> avoids p -> IZR side * mean_of number p <= IZR (side * extreme side number lost k)) /\
  exists p, odds_of k p /\ avoids p /\ mean_of number p = IZR (extreme side number lost k).
Proof.
  intros Side V A. pose proof V as (_ & _ & Vr). assert (Z0 : forall r, In r (rows k) -> lost r = true -> low r = 0%Z).
  { intros r Hr L. apply best_avoids in A as (p & O & A); [|assumption]. destruct (in_odds k p r O Hr) as (q & I).
    pose proof (proj1 (proj2 O) q r I) as [B _]. rewrite (A q r I L) in B. apply le_IZR in B. specialize (Vr r Hr). lia. }
  assert (Sp : forall p, odds_of k p -> avoids p <-> spares lost p).
  { intros p O. split; intros H q r I L; rewrite (H q r I L), (Z0 r (odds_in k p q r O I) L); reflexivity. }
  destruct (extreme_means k side number lost Side V) as [M (p & O & S & E)].
  - apply andb_true_iff in A as [_ A]. apply Z.leb_le in A. eapply Z.le_trans; [exact A|]. unfold sum, room. revert Vr.
    generalize (rows k). induction l as [|r l IH]; simpl; intros H; [lia|]. specialize (IH ltac:(auto)). specialize (H r (or_introl eq_refl)). destruct (lost r); simpl; lia.
  - split; [intros p' O' A'; apply M; [assumption | now apply Sp] | exists p; split; [assumption | split; [now apply Sp | assumption]]].
Qed.

(* odds with which nature answers, so that no policy does better than `below`: hopeless at infinite states,
   elsewhere with C + R(l) >= 0 if they avoid these *)
Definition bad : answer := fun x k p => if infinite x
  then hits (lower x) p \/ (forall q r, In (q, r) p -> 0 < q -> same x r = true)
  else hits lost p \/ IZR (total k * below x) <= mean_of (fun r => fee r + below (head r))%Z p.

Lemma policies_lower (kind : answer) : (forall x k p, (x < n)%nat -> ends x = false -> In k (choices x) -> odds_of k p ->
    kind x k p -> bad x k p) ->
  forall pi, legal n (answered kind) quits pi -> forall h x, (x < n)%nat ->
    (infinite x = true -> ~ surely ends pi h x) /\
    costs_at_least ends (fun y => IZR (value_of y)) (IZR price) pi h x (IZR (below x)).
Proof.
  intros Check pi Le h x Hx. assert (Hopeless : hopeless n (answered kind) ends quits infinite layer).
  { intros y Hy Iy. destruct (infinite_never_ends y Hy Iy) as [E Q]. split; [assumption|]. split; [assumption|].
    intros c (k & p & Hk & O & B & ->). specialize (Check y k p Hy E Hk O B). unfold bad in Check. rewrite Iy in Check.
    destruct Check as [(q & r & I & L & Q')|S].
    - left. exists (Outcome q (IZR (fee r)) (head r)). split; [apply in_choice; now exists q, r|]. simpl.
      unfold lower in L. apply andb_true_iff in L. now rewrite Nat.ltb_lt in L.
    - right. intros o Ho. apply in_choice in Ho. destruct Ho as (q & r & I & Q' & ->). specialize (S q r I Q'). simpl.
      unfold same in S. apply andb_true_iff in S. now rewrite Nat.eqb_eq in S. }
  split; [intros Ix; eapply theorem_I; eauto using answered_proper, answered_inside|].
  eapply (theorem_L n) with (l := fun y => IZR (below y)); eauto using answered_proper, answered_inside.
  intros y Hy Iy. split; [intros E; apply IZR_le; now apply ends_enclosed|]. intros E. split; [intros Q; apply IZR_le; now apply giving_up_low|].
  intros c (k & p & Hk & O & B & ->) F. destruct (choices_valid y k Hk) as [V _]. rewrite (proj1 (drift_in_numbers k p V O below y)).
  specialize (Check y k p Hy E Hk O B). unfold bad in Check. rewrite Iy in Check. destruct Check as [(q & r & I & L & Q)|]; [|lra].
  rewrite (proj2 (avoids_choice k p V O) F q r I L) in Q. lra.
Qed.

(* ---------- worst odds *)
(** Worst odds, below: nature has an answer to every choice, and a policy against such answers
    ends surely from no infinite state, and elsewhere costs at least `below` if it ends surely. *)
Theorem theorem_W_worst_below : (forall x k, (x < n)%nat -> ends x = false -> In k (choices x) ->
    if infinite x then worst_infinite x k = true else worst_avoided k = true -> not_undercut 1 x k = true) ->
  (forall x k, (x < n)%nat -> ends x = false -> In k (choices x) -> exists p, odds_of k p /\ bad x k p) /\
  forall pi, legal n (answered bad) quits pi -> forall h x, (x < n)%nat ->
    (infinite x = true -> ~ surely ends pi h x) /\
    costs_at_least ends (fun y => IZR (value_of y)) (IZR price) pi h x (IZR (below x)).
Proof.
  intros Check. split.
  - intros x k Hx En Hk. specialize (Check x k Hx En Hk). destruct (choices_valid x k Hk) as [V _]. unfold bad. destruct (infinite x).
    + unfold worst_infinite in Check. apply orb_true_iff in Check. destruct Check as [T|T].
      * apply may_reach_means in T; [|assumption]. destruct T as (p & T). exists p. firstorder.
      * apply may_stay_means in T; [|assumption]. destruct T as (p & O & H). exists p. split; [assumption|]. right.
        intros q r I Q. destruct (same x r) eqn:E; [reflexivity|]. specialize (H q r I E). lra.
    + destruct (worst_avoided k) eqn:A.
      * specialize (Check eq_refl). apply Z.leb_le in Check. apply IZR_le in Check.
        destruct (extreme_avoiding k 1 (fun r => fee r + below (head r))%Z (or_introl eq_refl) V (worst_room k V A)) as (_ & p & O & _ & M).
        exists p. split; [assumption|]. right. lra.
      * apply negb_false_iff in A. apply may_reach_means in A as (p & A); [|assumption]. exists p. firstorder.
  - now apply policies_lower.
Qed.

(* what is needed of any answers to the plan's choices: it stays among finite states, C + R(u) <= 0 *)
Lemma plan_upper (kind : answer) : (forall x k p, (x < n)%nat -> ends x = false -> infinite x = false -> plan x = Some k ->
    odds_of k p -> kind x k p -> avoids p /\ mean_of (fun r => fee r + above (head r))%Z p <= IZR (total k * above x)) ->
  forall pi, follows kind pi -> forall h x, (x < n)%nat -> infinite x = false ->
    costs_at_most ends (fun y => IZR (value_of y)) (IZR price) pi h x (IZR (above x)).
Proof.
  intros Up pi [Le Fo] h x Hx Ix.
  apply (theorem_U_positive n (answered kind) ends _ _ quits (answered_proper kind) (answered_inside kind) infinite pi Le
    (fun y => IZR (above y)) 1); [lra | | | assumption | assumption].
  - intros y c o (k & p & Hk & O & _ & ->) Ho. apply in_choice in Ho. destruct Ho as (q & r & I & _ & ->). simpl.
    apply IZR_le. destruct (choices_valid y k Hk) as [_ F]. destruct (F r (odds_in k p q r O I)). lia.
  - split; [intros y Hy Iy E; apply IZR_le; now apply ends_enclosed|]. intros h' y q m Hy Iy E Hm. specialize (Fo h' y q m Hy E Hm).
    destruct (plan y) as [k|] eqn:Pl.
    + destruct Fo as (p & O & K & ->). destruct (Up y k p Hy E Iy Pl O K) as [A B].
      destruct (choices_valid y k (plan_known y k Hy E Pl)) as [V _]. split; [now apply (avoids_choice k p V O)|].
      rewrite (proj1 (drift_in_numbers k p V O above y)). lra.
    + subst m. apply IZR_le. now apply giving_up_high.
Qed.

(** Worst odds, above: whatever the odds, and even if they depend on the past, the plan ends surely,
    at an expected cost of at most `above`. *)
Theorem theorem_W_worst_above : (forall x k, (x < n)%nat -> ends x = false -> infinite x = false -> plan x = Some k ->
    worst_avoided k = true /\ not_exceeded 1 x k = true) ->
  forall pi, follows (fun _ _ _ => True) pi -> forall h x, (x < n)%nat -> infinite x = false ->
    costs_at_most ends (fun y => IZR (value_of y)) (IZR price) pi h x (IZR (above x)).
Proof.
  intros Check. apply plan_upper. intros x k p Hx En Ix Pl O _. destruct (Check x k Hx En Ix Pl) as [A U].
  destruct (choices_valid x k (plan_known x k Hx En Pl)) as [V _]. pose proof (unreached _ k p V A O) as Av. split; [exact Av|].
  apply Z.leb_le, IZR_le in U. destruct (extreme_avoiding k 1 (fun r => fee r + above (head r))%Z (or_introl eq_refl) V (worst_room k V A)) as (M & _).
  specialize (M p O Av). rewrite mult_IZR in M. lra.
Qed.

(* ---------- best odds *)
(** Best odds, below: a policy that also picks the odds ends surely from no infinite state, and
    elsewhere costs at least `below` if it ends surely. *)
Theorem theorem_W_best_below : (forall x k, (x < n)%nat -> ends x = false -> In k (choices x) ->
    if infinite x then best_infinite x k = true else best_avoided k = true -> not_undercut (-1) x k = true) ->
  forall pi, legal n (answered (fun _ _ _ => True)) quits pi -> forall h x, (x < n)%nat ->
    (infinite x = true -> ~ surely ends pi h x) /\
    costs_at_least ends (fun y => IZR (value_of y)) (IZR price) pi h x (IZR (below x)).
Proof.
  intros Check. apply policies_lower. intros y k p Hy E Hk O _. specialize (Check y k Hy E Hk).
  destruct (choices_valid y k Hk) as [V _]. unfold bad. destruct (infinite y) eqn:Iy.
  - destruct (hits_or (lower y) k p V O) as [|N]; [now left | right]. intros q r I Q. apply orb_prop in Check as [T|T].
    + exfalso. apply negb_true_iff in T. enough (may_stay (fun r => negb (lower y r)) k = true) by congruence.
      apply may_stay_means; [assumption|]. exists p. split; [assumption|]. intros q' r' I' L'%negb_false_iff. eauto.
    + pose proof (unreached _ k p V T O q r I) as E'. specialize (N q r I). unfold elsewhere in E'.
      destruct (same y r), (lower y r); auto; simpl in *; intuition lra.
  - destruct (hits_or lost k p V O) as [|Av]; [now left | right].
    assert (A : best_avoided k = true) by (apply best_avoids; [assumption | now exists p]).
    specialize (Check A). apply Z.leb_le, IZR_le in Check.
    destruct (extreme_avoiding k (-1) (fun r => fee r + below (head r))%Z (or_intror eq_refl) V A) as (M & _).
    specialize (M p O Av). rewrite mult_IZR in M. lra.
Qed.

Definition good : answer := fun x k p => avoids p /\ mean_of (fun r => fee r + above (head r))%Z p <= IZR (total k * above x).

(** Best odds, above: there are odds for the plan's choices with which it ends surely, at an
    expected cost of at most `above`. *)
Theorem theorem_W_best_above : (forall x k, (x < n)%nat -> ends x = false -> infinite x = false -> plan x = Some k ->
    best_avoided k = true /\ not_exceeded (-1) x k = true) ->
  (forall x k, (x < n)%nat -> ends x = false -> infinite x = false -> plan x = Some k -> exists p, odds_of k p /\ good x k p) /\
  forall pi, follows good pi -> forall h x, (x < n)%nat -> infinite x = false ->
    costs_at_most ends (fun y => IZR (value_of y)) (IZR price) pi h x (IZR (above x)).
Proof.
  intros Check. split.
  - intros x k Hx En Ix Pl. destruct (Check x k Hx En Ix Pl) as [A U]. apply Z.leb_le, IZR_le in U.
    destruct (choices_valid x k (plan_known x k Hx En Pl)) as [V _].
    destruct (extreme_avoiding k (-1) (fun r => fee r + above (head r))%Z (or_intror eq_refl) V A) as (_ & p & O & S & M).
    exists p. split; [assumption|]. split; [exact S | lra].
  - apply plan_upper. intros x k p _ _ _ _ _ K. exact K.
Qed.
End Intervals.
