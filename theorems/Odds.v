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

(* ---------- what they mean: odds are real numbers, one for each outcome *)
Open Scope R_scope.
Definition odds_of k (p : list (R * row)) := map snd p = rows k /\
  (forall q r, In (q, r) p -> IZR (low r) <= q <= IZR (high r)) /\ rsum fst p = IZR (total k).
Definition mean_of (number : row -> Z) := rsum (fun qr : R * row => fst qr * IZR (number (snd qr))).
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
  unfold mean_of, rsum, sum, room. induction l as [|r l IH]; simpl; intros left B H.
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

(* no odds do better than handing out in descending order *)
Lemma greedy barred number N l : forall left p, StronglySorted (fun a b => by_number 1 number a b = true) l ->
  (forall r, In r l -> IZR (number r) <= N) -> map snd p = l ->
  (forall q r, In (q, r) p -> IZR (low r) <= q <= IZR (high r)) -> spares barred p -> (0 <= left)%Z ->
  IZR left <= rsum (fun qr => fst qr - IZR (low (snd qr))) p ->
  rsum (fun qr => (fst qr - IZR (low (snd qr))) * IZR (number (snd qr))) p <=
  IZR (hand_out barred number left l) + (rsum (fun qr => fst qr - IZR (low (snd qr))) p - IZR left) * N.
Proof.
  revert N. induction l as [|r l IH]; intros N left p S HN E B Sp L0 L; destruct p as [|[q r'] p]; try easy.
  - unfold rsum in *. simpl in *. apply IZR_le in L0. assert (IZR left = 0) as -> by lra. lra.
  - simpl in E. injection E as -> E. inversion S as [|? ? Sl F]; subst.
    unfold rsum in *. cbn [map fold_right fst snd hand_out] in *.
    set (more := (if barred r then 0 else Z.min (high r - low r) left)%Z).
    set (s := fold_right Rplus 0 (map (fun qr : R * row => fst qr - IZR (low (snd qr))) p)) in *.
    pose proof (B q r (or_introl eq_refl)) as Bq. set (d := q - IZR (low r)) in *. assert (s0 : 0 <= s).
    { apply sum_part. intros [q' r'] I. simpl. specialize (B q' r' (or_intror I)). lra. }
    assert (Hd : barred r = true -> d = 0) by (intros Ba; unfold d; rewrite (Sp q r (or_introl eq_refl) Ba); lra).
    assert (Dr : d <= IZR (high r - low r)) by (rewrite minus_IZR; unfold d; lra).
    assert (Hm : (0 <= more <= left)%Z /\ IZR (left - more) <= s).
    { unfold more. destruct (barred r); [specialize (Hd eq_refl); rewrite minus_IZR; split; [lia | lra]|].
      split; [assert (0 <= high r - low r)%Z by (apply le_IZR; unfold d in *; rewrite minus_IZR in *; lra); lia|].
      destruct (Z.min_spec (high r - low r) left) as [[_ ->]|[_ ->]]; rewrite minus_IZR; lra. }
    assert (Fn : forall a, In a (map snd p) -> IZR (number a) <= IZR (number r)).
    { intros a Ha. rewrite Forall_forall in F. specialize (F a Ha). unfold by_number in F. simpl in F. apply IZR_le, Z.leb_le, F. }
    specialize (IH (IZR (number r)) (left - more)%Z p Sl Fn eq_refl ltac:(intros; apply B; now right)
      ltac:(intros q' a I; apply (Sp q' a); now right) ltac:(lia) (proj2 Hm)). fold s in IH.
    rewrite plus_IZR, mult_IZR. rewrite minus_IZR in IH.
    pose proof (HN r (or_introl eq_refl)). assert (0 <= (d + s - IZR left) * (N - IZR (number r))) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma mean_split number p : mean_of number p = rsum (fun qr : R * row => (fst qr - IZR (low (snd qr))) * IZR (number (snd qr))) p +
  IZR (sum (fun r => low r * number r)%Z (map snd p)).
Proof. unfold mean_of, rsum, sum. induction p as [|[q r] p IH]; simpl; [lra|]. rewrite plus_IZR, mult_IZR. lra. Qed.
Lemma back (p : list (R * row)) l k : map snd p = l -> Permutation (rows k) l -> exists p', map snd p' = rows k /\ Permutation p' p.
Proof. intros <- P. destruct (Permutation_map_inv _ _ P) as (p' & -> & P'). exists p'. split; [reflexivity | now symmetry]. Qed.
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
  - intros p (E & B & T) Sp. destruct (back p _ (Options sorted 0) E) as (p' & E' & P'); [now symmetry|]. simpl in E'.
    set (f := (fun r => side * number r)%Z). assert (Q : forall a b, le a b = true <-> by_number 1 f a b = true).
    { intros a b. unfold le, by_number, f. destruct Side as [->| ->]; cbn -[Z.mul Z.leb]; rewrite !Z.leb_le; lia. }
    assert (So : StronglySorted (fun a b => by_number 1 f a b = true) sorted).
    { assert (So : StronglySorted (fun a b => le a b = true) sorted).
      { apply sort_sorted; unfold le, by_number; intros a b; destruct (side <? 0)%Z; try (intros c); rewrite ?Z.leb_gt, !Z.leb_le; lia. }
      clear P E'. induction So as [|a l _ IH F]; [constructor|]. constructor; [exact IH|]. eapply Forall_impl; [|exact F]. intros b. apply Q. }
    assert (Su : rsum (fun qr => fst qr - IZR (low (snd qr))) p' = IZR (total k - sum low (rows k))).
    { rewrite rsum_minus, rsum_snd, E', <- (sum_permutes _ _ _ P), minus_IZR, (rsum_permutes fst _ _ P'). lra. }
    pose proof (greedy barred f (rsum (fun r => Rabs (IZR (f r))) (rows k)) _ (total k - sum low (rows k)) p' So) as G.
    rewrite Su, Rminus_diag_eq, Rmult_0_l, Rplus_0_r in G by reflexivity.
    rewrite (hand_out_scaled side barred number sorted _ : hand_out barred f _ sorted = _) in G.
    assert (Mf : mean_of f p' = IZR side * mean_of number p).
    { unfold mean_of. rewrite (rsum_permutes _ _ _ P'). clear. unfold rsum, f. induction p as [|[q r] p IH]; simpl; [lra|]. rewrite IH, mult_IZR. lra. }
    rewrite <- Mf, mean_split, E', <- (sum_permutes _ _ _ P).
    assert (Lf : sum (fun r => low r * f r)%Z (rows k) = (side * sum (fun r => low r * number r) (rows k))%Z).
    { unfold sum, f. clear. induction (rows k) as [|r l IH]; simpl; lia. }
    rewrite Lf, Z.mul_add_distr_l, Rplus_comm, plus_IZR. apply Rplus_le_compat_l, G; auto; try lia; try lra.
    + intros r Hr. eapply Rle_trans; [apply Rle_abs|]. apply (sum_part (fun r => Rabs (IZR (f r)))); [intros; apply Rabs_pos|].
      now apply (Permutation_in _ (Permutation_sym P)).
    + intros q r I. apply B. now apply (Permutation_in _ P').
    + intros q r I. apply Sp. now apply (Permutation_in _ P').
  - destruct (allocate barred number sorted (total k - sum low (rows k))) as (p & E & B & Sp & T & M & _).
    + rewrite <- (sum_permutes _ _ _ P). rewrite sum_plus in Room. lia.
    + intros r Hr. apply V. now apply (Permutation_in _ (Permutation_sym P)).
    + destruct (back p _ k E P) as (p' & E' & P'). exists p'. unfold odds_of, mean_of in *.
      rewrite !(rsum_permutes _ _ _ P'), T, M, <- !(sum_permutes _ _ _ P).
      split; [split; [exact E'|split]|split; [|reflexivity]].
      * intros q r I. apply B. now apply (Permutation_in _ P').
      * f_equal. lia.
      * intros q r I. apply Sp. now apply (Permutation_in _ P').
Qed.

Lemma in_odds k p r : odds_of k p -> In r (rows k) -> exists q, In (q, r) p.
Proof. intros [E _] I. rewrite <- E in I. apply in_map_iff in I. destruct I as ([q r'] & <- & I). now exists q. Qed.
Lemma odds_in k p q r : odds_of k p -> In (q, r) p -> In r (rows k).
Proof. intros [<- _] I. now apply (in_map snd) in I. Qed.

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
    + destruct (back p _ k Ep P) as (p' & E' & P'). destruct (Hd r _ eq_refl) as (q & p0 & -> & Eq).
      exists p', q, r. split; [split; [exact E'|split]|split; [|split; [assumption|]]].
      * intros q0 r0 I. apply B. now apply (Permutation_in _ P').
      * rewrite (rsum_permutes _ _ _ P'), Tt, <- (sum_permutes _ _ _ P). f_equal. lia.
      * apply (Permutation_in _ (Permutation_sym P')). now left.
      * rewrite Eq. apply IZR_lt. apply orb_true_iff in Lo. rewrite andb_true_iff, !negb_true_iff, !Z.eqb_neq, Z.ltb_lt in Lo. lia.
  - intros (p & q & r & O & I & T & Q). exists r. split; [eapply odds_in; eauto|]. rewrite T. simpl.
    apply orb_true_iff. rewrite andb_true_iff, !negb_true_iff, !Z.eqb_neq, Z.ltb_lt. destruct O as (E & B & S).
    destruct (Z.eq_dec (low r) 0) as [Z0|]; [right | now left]. pose proof (B q r I) as Bq. split.
    + apply lt_IZR. rewrite <- S, <- E, <- rsum_snd. apply Rminus_gt_0_lt. rewrite <- rsum_minus.
      eapply Rlt_le_trans; [|apply (sum_part (fun qr : R * row => fst qr - IZR (low (snd qr))) p) with (a := (q, r)); [|assumption]].
      * simpl. rewrite Z0. lra.
      * intros [q' r'] I'. simpl. specialize (B q' r' I'). lra.
    + intros H0. rewrite H0 in Bq. lra.
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
    + destruct O as (E & B & S). apply le_IZR. rewrite <- S, <- E, <- rsum_snd. apply Rminus_le. rewrite <- rsum_minus.
      enough (0 <= rsum (fun qr => IZR (if there (snd qr) then high (snd qr) else 0%Z) - fst qr) p).
      { rewrite rsum_minus in *. lra. }
      apply sum_part. intros [q r] I. simpl. pose proof (B q r I). destruct (there r) eqn:T; [lra|]. rewrite (H q r I T). lra.
Qed.
