(* Odds between bounds (`Odds`): their extremes, where they may lead, and where they may stay. *)
From Wayfield Require Import Lists Process.
Open Scope Z_scope.

(* an outcome with the bounds on its odds, and a choice: all odds between the bounds that sum to total *)
Record row := Row { low : Z; high : Z; fee : Z; head : nat }.
Record options := Options { rows : list row; total : Z }.

Definition valid k := 0 < total k /\ sum low (rows k) <= total k <= sum high (rows k) /\
  forall r, In r (rows k) -> 0 <= low r <= high r.

(* ---------- the checker's three functions *)
(* what the least odds leave over goes to the extreme numbers first; barred outcomes get none of it *)
Fixpoint hand_out (barred : row -> bool) (number : row -> Z) left l :=
  match l with
  | [] => 0
  | r :: rest =>
      let more := if barred r then 0 else Z.min (high r - low r) left in
      more * number r + hand_out barred number (left - more) rest
  end.

Definition by_number (side : Z) (number : row -> Z) a b :=
  if side <? 0 then number a <=? number b else number b <=? number a.

Definition extreme side number barred k :=
  sum (fun r => low r * number r) (rows k) +
  hand_out barred number (total k - sum low (rows k)) (sort (by_number side number) (rows k)).

Definition may_reach there k := existsb (fun r => there r && (negb (low r =? 0) ||
  ((sum low (rows k) <? total k) && negb (high r =? 0)))) (rows k).

Definition may_stay there k := negb (existsb (fun r => negb (there r) && negb (low r =? 0)) (rows k)) &&
  (total k <=? sum (fun r => if there r then high r else 0) (rows k)).

(* ---------- what they mean: odds are real numbers, one for each outcome, in any order *)
Open Scope R_scope.
Definition odds_of k (p : list (R * row)) := Permutation (map snd p) (rows k) /\
  (forall q r, In (q, r) p -> IZR (low r) <= q <= IZR (high r)) /\ rsum fst p = IZR (total k).
Definition mean_of (number : row -> Z) := wsum fst (fun qr : R * row => IZR (number (snd qr))).
(* odds that give barred outcomes their least *)
Definition spares (barred : row -> bool) (p : list (R * row)) := forall q r, In (q, r) p -> barred r = true -> q = IZR (low r).

Lemma rsum_snd (f : row -> Z) (p : list (R * row)) : rsum (fun qr => IZR (f (snd qr))) p = IZR (sum f (map snd p)).
Proof. induction p as [|[q r] p IH]; unfold rsum, sum in *; simpl; [reflexivity | rewrite plus_IZR; lra]. Qed.

Definition room (barred : row -> bool) r := (if barred r then 0 else high r - low r)%Z.

(* handing out an amount that there is room for, in any order *)
Lemma allocate barred number l : forall left, (0 <= left <= sum (room barred) l)%Z -> (forall r, In r l -> 0 <= low r <= high r)%Z ->
  exists p, map snd p = l /\ (forall q r, In (q, r) p -> IZR (low r) <= q <= IZR (high r)) /\ spares barred p /\
    rsum fst p = IZR (sum low l + left) /\
    mean_of number p = IZR (sum (fun r => low r * number r) l + hand_out barred number left l)%Z /\
    forall r rest, l = r :: rest -> exists q p', p = (q, r) :: p' /\ q = IZR (low r + (if barred r then 0 else Z.min (high r - low r) left)).
Proof.
  unfold mean_of, wsum, rsum, sum, room. induction l as [|r l IH]; simpl; intros left B H.
  - exists []. replace left with 0%Z by lia. repeat apply conj; simpl; try easy; lra.
  - set (more := (if barred r then 0 else Z.min (high r - low r) left)%Z). pose proof (H r (or_introl eq_refl)) as Hr.
    assert (Hm : (0 <= more <= left /\ more <= high r - low r)%Z) by (unfold more; destruct (barred r); lia).
    assert (Rest : (0 <= sum (room barred) l)%Z).
    { apply sum_nonneg. intros a Ha. unfold room. specialize (H a (or_intror Ha)). destruct (barred a); lia. }
    unfold sum, room in Rest.
    destruct (IH (left - more)%Z) as (p & P1 & P2 & P3 & P4 & P5 & _); [unfold more; destruct (barred r); lia | auto |].
    exists ((IZR (low r + more), r) :: p). simpl. rewrite P1, P4, P5. split; [reflexivity|]. split; [|split; [|split; [|split]]].
    + intros q a [E|I]; [injection E as <- <-; split; apply IZR_le; lia | now apply P2].
    + intros q a [E|I] Ba; [injection E as <- <-; unfold more; rewrite Ba; f_equal; lia | now apply (P3 q a)].
    + rewrite <- plus_IZR. f_equal. fold (sum low l). lia.
    + fold (sum (fun r => low r * number r)%Z l). rewrite <- mult_IZR, <- plus_IZR. f_equal. lia.
    + intros r' rest E. injection E as <- <-. now exists (IZR (low r + more)), p.
Qed.

(* handing out in descending order: all the room above a threshold, and what is left at it *)
Lemma threshold barred number l : forall left, StronglySorted (fun a b => (number b <= number a)%Z) l ->
  (0 <= left <= sum (room barred) l)%Z -> (forall r, In r l -> low r <= high r)%Z -> exists tau, (left = 0%Z \/ exists r, In r l /\ (tau <= number r)%Z) /\
  hand_out barred number left l = (tau * left + sum (fun r => room barred r * Z.max 0 (number r - tau)) l)%Z.
Proof.
  unfold sum, room. induction l as [|r l IH]; intros left S B H; simpl in *; [exists 0%Z; lia|].
  inversion S as [|? ? Sl F]; subst. rewrite Forall_forall in F. pose proof (H r (or_introl eq_refl)).
  set (space := (if barred r then 0 else high r - low r)%Z) in *. assert (Sp : (0 <= space)%Z) by (unfold space; destruct (barred r); lia).
  replace (if barred r then 0%Z else Z.min (high r - low r) left) with (Z.min space left) by (unfold space; destruct (barred r); lia).
  destruct (Z.le_gt_cases left space) as [L|L].
  - exists (number r). split; [right; exists r; split; [now left | lia]|]. rewrite Z.min_r, !Z.sub_diag, Z.max_l, Z.mul_0_r by lia.
    enough (hand_out barred number 0 l = 0 /\ fold_right Z.add 0 (map (fun a => (if barred a then 0 else high a - low a) * Z.max 0 (number a - number r)) l) = 0)%Z by lia.
    clear - F H. induction l as [|a l IH]; simpl in *; [auto|]. pose proof (H a ltac:(auto)). rewrite Z.max_l by (specialize (F a ltac:(auto)); lia).
    replace (if barred a then 0%Z else Z.min (high a - low a) 0) with 0%Z by (destruct (barred a); lia). change (- 0)%Z with 0%Z. destruct IH as [-> ->]; [intros b [<-|Hb]; auto | auto | lia].
  - destruct (IH (left - space)%Z Sl) as (tau & [T|(a & Ha & T)] & E); [lia | auto | lia |]. specialize (F a Ha).
    exists tau. split; [right; exists a; auto|]. rewrite Z.min_l, E, Z.max_r by lia. ring.
Qed.

(* and no odds have more: of each outcome they use no more than its room *)
Lemma at_most number barred tau p : (forall q r, In (q, r) p -> IZR (low r) <= q <= IZR (high r)) -> spares barred p ->
  mean_of number p <= IZR (sum (fun r => low r * number r) (map snd p))%Z + IZR tau * (rsum fst p - IZR (sum low (map snd p))) +
    IZR (sum (fun r => room barred r * Z.max 0 (number r - tau)) (map snd p))%Z.
Proof.
  unfold mean_of, wsum, rsum, sum. induction p as [|[q r] p IH]; simpl; intros B S; [lra|].
  specialize (IH ltac:(auto) ltac:(intros q' r' I; apply (S q' r'); now right)). pose proof (B q r (or_introl eq_refl)) as Bq.
  rewrite !plus_IZR, !mult_IZR. enough ((q - IZR (low r)) * (IZR (number r) - IZR tau) <= IZR (room barred r) * IZR (Z.max 0 (number r - tau))) by lra.
  assert (q - IZR (low r) <= IZR (room barred r)).
  { unfold room. destruct (barred r) eqn:Ba; [rewrite (S q r (or_introl eq_refl) Ba) | rewrite minus_IZR]; lra. }
  rewrite <- minus_IZR. destruct (Z.max_spec 0 (number r - tau)) as [[L ->]|[L ->]].
  - apply Rmult_le_compat_r; [apply IZR_le; lia | assumption].
  - apply IZR_le in L. rewrite Rmult_0_r, <- (Rmult_0_r (q - IZR (low r))). apply Rmult_le_compat_l; lra.
Qed.

Lemma hand_out_scaled side barred number l left : hand_out barred (fun r => side * number r)%Z left l = (side * hand_out barred number left l)%Z.
Proof. revert left. induction l as [|r l IH]; intros left; simpl; [|rewrite IH]; ring. Qed.

(** Among the odds that spare the barred outcomes, `extreme` is the largest sum of odds times numbers
    for side 1, and the least for side -1: no odds have a more extreme one, and some have this. *)
Theorem extreme_means k side number barred : side = 1%Z \/ side = (-1)%Z -> valid k ->
  (total k <= sum (fun r => low r + room barred r) (rows k))%Z ->
  (forall p, odds_of k p -> spares barred p -> IZR side * mean_of number p <= IZR (side * extreme side number barred k)) /\
  exists p, odds_of k p /\ spares barred p /\ mean_of number p = IZR (extreme side number barred k).
Proof.
  intros Side (Tp & Bt & V) Room. set (le := by_number side number). set (sorted := sort le (rows k)).
  assert (P : Permutation (rows k) sorted) by apply sort_permutes. unfold extreme. fold le sorted. split.
  - intros p (E & B & T) Sp. set (f := (fun r => side * number r)%Z).
    assert (So : StronglySorted (fun a b => (f b <= f a)%Z) sorted).
    { assert (So : StronglySorted (fun a b => le a b = true) sorted).
      { apply sort_sorted; unfold le, by_number; intros a b; destruct (side <? 0)%Z; try (intros c); rewrite ?Z.leb_gt, !Z.leb_le; lia. }
      clear P. induction So as [|a l _ IH F]; constructor; [exact IH|]. eapply Forall_impl; [|exact F]. intros b.
      unfold le, by_number, f. destruct Side as [->| ->]; cbn -[Z.mul Z.leb]; rewrite Z.leb_le; lia. }
    destruct (threshold barred f sorted (total k - sum low (rows k)) So) as (tau & _ & H).
    + rewrite <- (sum_permutes _ _ _ P). rewrite sum_plus in Room. lia.
    + intros r Hr. now apply V, (Permutation_in _ (Permutation_sym P)).
    + rewrite (hand_out_scaled side barred number sorted _ : hand_out barred f _ sorted = _) in H.
      pose proof (at_most f barred tau p B Sp) as M. rewrite T, !(sum_permutes _ _ _ E) in M.
      rewrite <- (sum_permutes _ _ _ P) in H.
      assert (Mf : mean_of f p = IZR side * mean_of number p).
      { unfold mean_of. rewrite <- wsum_scal. apply rsum_ext. intros. f_equal. apply mult_IZR. }
      assert (Lf : sum (fun r => low r * f r)%Z (rows k) = (side * sum (fun r => low r * number r) (rows k))%Z).
      { unfold sum, f. clear. induction (rows k) as [|r l IH]; simpl; lia. }
      rewrite Z.mul_add_distr_l, H, <- Lf, !plus_IZR, mult_IZR, minus_IZR, <- Mf. lra.
  - destruct (allocate barred number sorted (total k - sum low (rows k))) as (p & E & B & Sp & T & M & _).
    + rewrite <- (sum_permutes _ _ _ P). rewrite sum_plus in Room. lia.
    + intros r Hr. now apply V, (Permutation_in _ (Permutation_sym P)).
    + exists p. rewrite <- (sum_permutes _ _ _ P) in T. rewrite <- (sum_permutes _ _ _ P) in M. split; [|auto]. split; [now rewrite E|]. split; [exact B | rewrite T; f_equal; lia].
Qed.

Lemma in_odds k p r : odds_of k p -> In r (rows k) -> exists q, In (q, r) p.
Proof. intros [E _] I. apply (Permutation_in _ (Permutation_sym E)), in_map_iff in I as ([q r'] & <- & I). now exists q. Qed.
Lemma odds_in k p q r : odds_of k p -> In (q, r) p -> In r (rows k).
Proof. intros [E _] I. now apply (Permutation_in _ E), (in_map snd _ (q, r)). Qed.

Lemma room_all k : valid k -> (total k <= sum (fun r => low r + room (fun _ => false) r) (rows k))%Z.
Proof.
  intros (_ & [_ B] & _). eapply Z.le_trans; [exact B|]. apply Z.eq_le_incl. unfold sum, room. f_equal. apply map_ext. intros; lia.
Qed.

(** `may_reach`: some odds of the choice give an outcome there a positive probability. *)
Theorem may_reach_means k there : valid k ->
  may_reach there k = true <-> exists p q r, odds_of k p /\ In (q, r) p /\ there r = true /\ 0 < q.
Proof.
  intros V. pose proof V as (Tp & Bt & Vr). unfold may_reach. rewrite existsb_exists. split.
  - intros (r & Hr & T). apply andb_true_iff in T. destruct T as [T Lo]. pose proof (Vr r Hr).
    destruct (in_split r _ Hr) as (l1 & l2 & E).
    assert (P : Permutation (rows k) (r :: l1 ++ l2)) by (rewrite E; symmetry; apply Permutation_middle).
    destruct (allocate (fun _ => false) (fun _ => 0%Z) (r :: l1 ++ l2) (total k - sum low (rows k))) as (p & Ep & B & _ & Tt & _ & Hd).
    + rewrite <- (sum_permutes _ _ _ P). pose proof (room_all k V) as Q. rewrite sum_plus in Q. lia.
    + intros a Ha. apply Vr. now apply (Permutation_in _ (Permutation_sym P)).
    + destruct (Hd r _ eq_refl) as (q & p' & -> & Eq). exists ((q, r) :: p'), q, r. rewrite <- !(sum_permutes _ _ _ P) in Tt.
      split; [split; [now rewrite Ep | split; [exact B | rewrite Tt; f_equal; lia]]|]. split; [now left | split; [assumption|]].
      rewrite Eq. apply IZR_lt. apply orb_true_iff in Lo. rewrite andb_true_iff, !negb_true_iff, !Z.eqb_neq, Z.ltb_lt in Lo. lia.
  - intros (p & q & r & O & I & T & Q). exists r. split; [eapply odds_in; eauto|]. rewrite T. simpl.
    apply orb_true_iff. rewrite andb_true_iff, !negb_true_iff, !Z.eqb_neq, Z.ltb_lt. destruct O as (E & B & S).
    destruct (Z.eq_dec (low r) 0) as [Z0|]; [right | now left]. pose proof (B q r I) as Bq.
    split; [apply Z.lt_nge; intros Le%IZR_le | intros H0; rewrite H0 in Bq; lra].
    rewrite <- S, <- (sum_permutes _ _ _ E), <- rsum_snd in Le.
    apply (fun H => sums_agree _ fst p H Le) in I; [|intros [q' r']; apply B]. simpl in I. rewrite Z0 in I. lra.
Qed.

(** `may_stay`: some odds of the choice give every outcome elsewhere the probability 0. *)
Theorem may_stay_means k there : valid k ->
  may_stay there k = true <-> exists p, odds_of k p /\ forall q r, In (q, r) p -> there r = false -> q = 0.
Proof.
  intros V. pose proof V as (Tp & Bt & Vr). unfold may_stay. rewrite andb_true_iff, negb_true_iff, Z.leb_le. split.
  - intros [No S]. assert (Z0 : forall r, In r (rows k) -> there r = false -> low r = 0%Z).
    { intros r Hr T. destruct (Z.eq_dec (low r) 0) as [|N]; [assumption|exfalso].
      assert (existsb (fun r => negb (there r) && negb (low r =? 0)%Z) (rows k) = true); [|congruence].
      apply existsb_exists. exists r. split; [assumption|]. rewrite T. simpl. now apply negb_true_iff, Z.eqb_neq. }
    destruct (extreme_means k 1 (fun _ => 0%Z) (fun r => negb (there r)) (or_introl eq_refl) V) as (_ & p & O & Sp & _).
    + eapply Z.le_trans; [exact S|]. apply Z.eq_le_incl. unfold sum. f_equal. apply map_ext_in. intros r Hr.
      unfold room. destruct (there r) eqn:T; simpl; [lia|]. rewrite Z0; auto.
    + exists p. split; [assumption|]. intros q r I T. rewrite (Sp q r I) by now rewrite T. now rewrite Z0 by (eauto using odds_in).
  - intros (p & O & H). split.
    + destruct (existsb _ _) eqn:Ex; [exfalso|reflexivity]. apply existsb_exists in Ex. destruct Ex as (r & Hr & T).
      rewrite andb_true_iff, !negb_true_iff, Z.eqb_neq in T. destruct (in_odds k p r O Hr) as (q & I).
      pose proof (proj1 (proj2 O) q r I) as B. rewrite (H q r I (proj1 T)) in B. destruct B as [B _]. apply le_IZR in B.
      specialize (Vr r Hr). lia.
    + destruct O as (E & B & S). apply le_IZR. rewrite <- S, <- (sum_permutes _ _ _ E), <- rsum_snd. apply rsum_le.
      intros [q r] I. simpl. pose proof (B q r I). destruct (there r) eqn:T; [lra|]. rewrite (H q r I T). lra.
Qed.
