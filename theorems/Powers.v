(* The sign of a sum of quotients (`sign_of_sum`), and of a sum of powers of slopes (`sign_of_balance`):
   enclosed, and exact where that does not do. Fractions are pairs of whole numbers, denominators positive. *)
From Wayfield Require Import Lists Graph Field Signs.
Open Scope R_scope.

Notation frac := (Z * Z)%type.
Definition MOST_BITS := 256%Z.
Definition FEWEST_BITS := 128%Z.
Definition LONGEST := (2 ^ 20)%Z.
Definition LONGEST_POWERS := (2 ^ 16)%Z.
Definition fractions (l : list frac) := forall s, In s l -> (0 < snd s)%Z.

(* ---------- `_total`: the two halves are summed first *)
Fixpoint halves {A} (l : list A) : list A * list A :=
  match l with [] => ([], []) | a :: l => let (x, y) := halves l in (a :: y, x) end.

Fixpoint total (turns : nat) (terms : list frac) : frac :=
  match terms, turns with
  | [], _ => (0, 1)%Z
  | [t], _ => t
  | _, S turns =>
      let (x, y) := halves terms in let (a, b) := total turns x in let (c, d) := total turns y in (a * d + b * c, b * d)%Z
  | _, O => (0, 1)%Z
  end.

Lemma halves_split {A} (l : list A) : let (x, y) := halves l in
  Permutation l (x ++ y) /\ (length y <= length x <= length y + 1)%nat.
Proof.
  induction l as [|a l IH]; simpl; [auto|]. destruct (halves l) as [x y]. destruct IH as [P L]. simpl. split; [|lia].
  constructor. rewrite P. apply Permutation_app_comm.
Qed.

Lemma total_sum turns : forall terms, (length terms <= turns)%nat -> fractions terms ->
  (0 < snd (total turns terms))%Z /\ ratio (total turns terms) = rsum ratio terms.
Proof.
  induction turns as [|turns IH]; intros terms L F; destruct terms as [|s [|t terms]]; try (simpl in L; lia);
    try (split; [simpl; lia | unfold ratio, rsum; simpl; lra]); try (split; [apply F; now left | unfold rsum; simpl; lra]).
  cbn [total]. pose proof (halves_split (s :: t :: terms)) as H. destruct (halves (s :: t :: terms)) as [x y].
  destruct H as [P H]. pose proof (Permutation_length P) as Pl. rewrite app_length in Pl. simpl in L, Pl.
  destruct (IH x) as [Px Rx]; [lia | intros z Hz; apply F, (Permutation_in _ (Permutation_sym P)), in_app_iff; auto |].
  destruct (IH y) as [Py Ry]; [lia | intros z Hz; apply F, (Permutation_in _ (Permutation_sym P)), in_app_iff; auto |].
  destruct (total turns x) as [a b], (total turns y) as [c d]. cbn [fst snd] in *. split; [now apply Z.mul_pos_pos|].
  rewrite (rsum_permutes _ _ _ P), rsum_app. transitivity (ratio (a, b) + ratio (c, d)); [|now rewrite Rx, Ry]. unfold ratio. simpl. rewrite plus_IZR, !mult_IZR. apply IZR_lt in Px, Py. field. lra.
Qed.

Lemma total_sign terms : fractions terms -> Z.sgn (fst (total (length terms) terms)) = sgn (rsum ratio terms).
Proof.
  intros F. destruct (total_sum (length terms) terms (le_n _) F) as [P <-]. apply IZR_lt in P. rewrite <- sgn_IZR.
  unfold ratio, Rdiv. rewrite Rmult_comm. symmetry. apply sgn_scale. now apply Rinv_0_lt_compat.
Qed.

(* ---------- `sign_of_sum` *)
Fixpoint by_denominator (l : list frac) : list frac :=
  match l with
  | [] => []
  | (a, b) :: l => match by_denominator l with
      | (c, d) :: rest => if (b =? d)%Z then (a + c, b)%Z :: rest else (a, b) :: (c, d) :: rest
      | [] => [(a, b)]
      end
  end.

Definition sign_of_sum (terms : list frac) : option Z :=
  let left := filter (fun s => negb (fst s =? 0)%Z) (by_denominator (sort (fun s t => (snd s <=? snd t)%Z) terms)) in
  let shift := (bit_length (fold_right Z.max 0 (map snd left)) + FEWEST_BITS)%Z in
  let least := sum (fun s => fst s * 2 ^ shift / snd s)%Z left in
  if (1 <? length left)%nat then
    if ((0 <? least) || (least <=? - Z.of_nat (length left)))%Z then Some (Z.sgn least)
    else if (LONGEST <? sum (fun s => bit_length (snd s)) left)%Z then None
    else Some (Z.sgn (fst (total (length left) left)))
  else Some (Z.sgn (fst (total (length left) left))).

Lemma by_denominator_sum l : fractions l -> fractions (by_denominator l) /\ rsum ratio (by_denominator l) = rsum ratio l.
Proof.
  unfold rsum. induction l as [|[a b] l IH]; simpl; intros F; [split; [easy | reflexivity]|].
  destruct IH as [F' E]; [intros s Hs; apply F; now right|]. pose proof (F (a, b) (or_introl eq_refl)) as B. simpl in B.
  destruct (by_denominator l) as [|[c d] rest]; simpl in *; [split; [intros s [<-|[]]; assumption | lra]|].
  destruct (Z.eqb_spec b d) as [->|N]; (split; [intros s [<-|Hs]; simpl; auto; apply F'; simpl; auto|]); simpl; rewrite <- E; [|lra].
  unfold ratio. simpl. rewrite plus_IZR. unfold Rdiv. lra.
Qed.

Lemma floors shift l : (0 <= shift)%Z -> fractions l -> let least := sum (fun s => fst s * 2 ^ shift / snd s)%Z l in
  IZR least <= IZR (2 ^ shift) * rsum ratio l /\ (l <> [] -> IZR (2 ^ shift) * rsum ratio l < IZR (least + Z.of_nat (length l))).
Proof.
  intros Hs. unfold sum, rsum. induction l as [|s l IH]; intros F; cbn [map fold_right length]; [split; [simpl; lra | easy]|].
  destruct IH as [Lo Hi]; [intros t Ht; apply F; now right|]. pose proof (F s (or_introl eq_refl)) as B.
  set (z := (fst s * 2 ^ shift)%Z) in *.
  assert (E : IZR (2 ^ shift) * ratio s = IZR z / IZR (snd s)) by (unfold z, ratio; rewrite mult_IZR; unfold Rdiv; lra).
  assert (Q : ratio (z / snd s, 1)%Z <= IZR z / IZR (snd s) < ratio (z / snd s + 1, 1)%Z).
  { split; [apply Rnot_lt_le; intros K%(ratio_lt (z, snd s)) | apply (ratio_lt (z, snd s))]; simpl in *; try lia;
      Z.div_mod_to_equations; nia. }
  unfold ratio, Rdiv in Q. simpl in Q. rewrite Rinv_1, !Rmult_1_r, plus_IZR in Q. fold (IZR z / IZR (snd s)) in Q.
  rewrite Rmult_plus_distr_l, E, plus_IZR. split; [lra|]. intros _. rewrite Nat2Z.inj_succ, plus_IZR, succ_IZR, plus_IZR.
  destruct l as [|t l]; [simpl in *; lra|]. specialize (Hi ltac:(easy)). rewrite plus_IZR in Hi. lra.
Qed.

(** `sign_of_sum`: if it says a sign, that is the sign of the sum of the quotients. *)
Theorem sign_of_sum_right terms z : fractions terms -> sign_of_sum terms = Some z -> z = sgn (rsum ratio terms).
Proof.
  intros F. unfold sign_of_sum. set (le := fun s t : frac => (snd s <=? snd t)%Z). pose proof (sort_permutes _ le terms) as P.
  destruct (by_denominator_sum (sort le terms)) as [Fg Eg]; [intros s Hs; apply F; now apply (Permutation_in _ (Permutation_sym P))|].
  set (left := filter _ _). rewrite (rsum_permutes _ _ _ P), <- Eg.
  assert (El : rsum ratio (by_denominator (sort le terms)) = rsum ratio left).
  { unfold left, rsum. clear. induction (by_denominator _) as [|s l IH]; simpl; [reflexivity|]. rewrite IH.
    destruct (Z.eqb_spec (fst s) 0) as [E|N]; simpl; [|reflexivity]. unfold ratio at 1. rewrite E. unfold Rdiv. lra. }
  assert (Fl : fractions left) by (intros s Hs; apply filter_In in Hs; now apply Fg).
  rewrite El. pose proof (total_sign left Fl) as T. destruct (1 <? length left)%nat eqn:L; [|intros E; injection E as <-; exact T].
  apply Nat.ltb_lt in L. set (shift := (bit_length _ + FEWEST_BITS)%Z).
  assert (Hs : (0 <= shift)%Z) by (unfold shift, FEWEST_BITS, bit_length; destruct (_ =? 0)%Z; [lia | pose proof (Z.log2_nonneg (Z.abs (fold_right Z.max 0%Z (map snd left)))); lia]).
  destruct (floors shift left Hs Fl) as [Lo Hi]. set (least := sum _ left) in *.
  assert (B : 0 < IZR (2 ^ shift)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  destruct ((0 <? least)%Z || (least <=? _)%Z) eqn:C.
  - intros E. injection E as <-. rewrite <- (sgn_scale (IZR (2 ^ shift)) (rsum ratio left)) by assumption.
    apply orb_true_iff in C as [C|C].
    + apply Z.ltb_lt in C. rewrite Z.sgn_pos by assumption. apply IZR_lt in C. sign.
    + apply Z.leb_le in C. rewrite Z.sgn_neg by lia. specialize (Hi ltac:(destruct left; simpl in *; [lia | easy])).
      assert (IZR (least + Z.of_nat (length left)) <= 0) by (apply IZR_le; lia). sign.
  - destruct (LONGEST <? _)%Z; [discriminate|]. intros E. injection E as <-. exact T.
Qed.

(* ---------- `power`: q = whole + rest / 2^places *)
Record exponent := Exponent { whole : N; places : nat; rest : Z }.
Definition real q := INR (N.to_nat (whole q)) + IZR (rest q) / IZR (2 ^ Z.of_nat (places q)).

Fixpoint squares bits (w : BinNums.positive) (result square : enclosure) :=
  match w with
  | xH => product bits result square
  | xO w => squares bits w result (product bits square square)
  | xI w => squares bits w (product bits result square) (product bits square square)
  end.

(* one root for every binary digit of what is left of q, in units of 2^-places *)
Fixpoint roots bits places left (result base : enclosure) :=
  match places with
  | O => result
  | S places => if (left =? 0)%Z then result else
      let base := root bits base in
      if (2 ^ Z.of_nat places <=? left)%Z
      then roots bits places (left - 2 ^ Z.of_nat places)%Z (product bits result base) base
      else roots bits places left result base
  end.

Definition power (r : frac) q bits : enclosure :=
  let shift := Z.max 0 (bits + bit_length (snd r) - bit_length (fst r)) in
  let lo := (fst r * 2 ^ shift / snd r)%Z in
  let base := (lo, if (0 <? fst r * 2 ^ shift mod snd r)%Z then lo + 1 else lo, - shift)%Z in
  let result := match whole q with N0 => (1, 1, 0)%Z | Npos w => squares bits w (1, 1, 0)%Z base end in
  roots bits (places q) (rest q) result base.

Lemma squares_enclose bits w : forall result square r s, encloses result r -> encloses square s ->
  encloses (squares bits w result square) (r * s ^ Pos.to_nat w).
Proof.
  induction w as [w IH|w IH|]; intros result square r s Hr Hs; cbn [squares].
  - replace (r * s ^ Pos.to_nat w~1) with (r * s * (s * s) ^ Pos.to_nat w); [apply IH; now apply product_encloses|].
    rewrite Pos2Nat.inj_xI, <- tech_pow_Rmult, pow_mult. replace (s ^ 2) with (s * s) by ring. ring.
  - replace (r * s ^ Pos.to_nat w~0) with (r * (s * s) ^ Pos.to_nat w); [apply IH; [|apply product_encloses]; assumption|].
    rewrite Pos2Nat.inj_xO, pow_mult. replace (s ^ 2) with (s * s) by ring. ring.
  - rewrite Pos2Nat.inj_1, pow_1. now apply product_encloses.
Qed.

Lemma roots_enclose bits places : forall left result base r b, 0 < b -> (0 <= left < 2 ^ Z.of_nat places)%Z ->
  encloses result r -> encloses base b -> encloses (roots bits places left result base) (r * Rpower b (IZR left / IZR (2 ^ Z.of_nat places))).
Proof.
  induction places as [|t IH]; intros left result base r b Hb Hl Hr Hs; cbn [roots].
  - replace left with 0%Z by (simpl in Hl; lia). replace (0 / _) with 0 by (unfold Rdiv; lra). rewrite Rpower_O, Rmult_1_r by assumption. exact Hr.
  - destruct (Z.eqb_spec left 0) as [->|N].
    { replace (0 / _) with 0 by (unfold Rdiv; lra). rewrite Rpower_O, Rmult_1_r by assumption. exact Hr. }
    rewrite Nat2Z.inj_succ, Z.pow_succ_r in * by lia. set (d := (2 ^ Z.of_nat t)%Z) in *.
    assert (D : (0 < d)%Z) by (apply Z.pow_pos_nonneg; lia). pose proof (root_encloses bits base b Hb Hs) as Ro.
    assert (Sq : 0 < sqrt b) by now apply sqrt_lt_R0. rewrite mult_IZR. apply IZR_lt in D as D'.
    assert (Half : forall e, Rpower (sqrt b) e = Rpower b (e / 2)).
    { intros e. rewrite <- (Rpower_sqrt b Hb), Rpower_mult. f_equal. lra. }
    destruct (Z.leb_spec d left) as [C|C].
    + replace (r * Rpower b _) with (r * sqrt b * Rpower (sqrt b) (IZR (left - d) / IZR d)); [apply IH; auto; [lia | now apply product_encloses]|].
      rewrite Half, <- (Rpower_sqrt b Hb), Rmult_assoc, <- Rpower_plus. do 2 f_equal. rewrite minus_IZR. field. lra.
    + replace (Rpower b _) with (Rpower (sqrt b) (IZR left / IZR d)); [apply IH; auto; lia|]. rewrite Half. f_equal. field. lra.
Qed.

(** `power`: the enclosure holds the power. *)
Theorem power_encloses r q bits : (0 < fst r)%Z -> (0 < snd r)%Z -> (0 <= rest q < 2 ^ Z.of_nat (places q))%Z ->
  encloses (power r q bits) (Rpower (ratio r) (real q)).
Proof.
  intros Pn Pd Hq. unfold power. set (shift := Z.max 0 _). assert (Hs : (0 <= shift)%Z) by apply Z.le_max_l.
  set (z := (fst r * 2 ^ shift)%Z). set (lo := (z / snd r)%Z).
  assert (B : (0 < 2 ^ shift)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (X : 0 < ratio r) by (apply Rdiv_lt_0_compat; now apply IZR_lt).
  assert (Base : encloses (lo, if (0 <? z mod snd r)%Z then (lo + 1)%Z else lo, (- shift)%Z) (ratio r)).
  { split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg|]; lia|].
    assert (E : powerRZ 2 (- shift) * IZR (2 ^ shift) = 1) by (rewrite <- two_whole, <- two_add by assumption; replace (- shift + shift)%Z with 0%Z by lia; reflexivity).
    assert (V : ratio r = IZR z / IZR (snd r) * powerRZ 2 (- shift)).
    { unfold ratio, z. rewrite mult_IZR. apply IZR_lt in Pd. replace (IZR (fst r) / IZR (snd r)) with (IZR (fst r) / IZR (snd r) * (powerRZ 2 (- shift) * IZR (2 ^ shift))) by (rewrite E; lra). field. lra. }
    rewrite V. pose proof (two_pos (- shift)) as T. pose proof (Z.div_mod z (snd r) ltac:(lia)) as Dm. pose proof (Z.mod_pos_bound z (snd r) Pd) as M. fold lo in Dm.
    assert (U : IZR z / IZR (snd r) * IZR (snd r) = IZR z) by (apply IZR_lt in Pd; field; lra). apply IZR_lt in Pd as Pd'.
    split; apply Rmult_le_compat_r; try lra; apply Rmult_le_reg_r with (IZR (snd r)); auto; rewrite U, <- mult_IZR; apply IZR_le; [lia|].
    destruct (Z.ltb_spec 0 (z mod snd r)); lia. }
  unfold real. rewrite Rpower_plus. apply roots_enclose; auto. rewrite Rpower_pow by assumption.
  assert (One : encloses (1, 1, 0)%Z 1) by (split; [lia | simpl; lra]).
  destruct (whole q) as [|w]; [exact One|]. rewrite <- (Rmult_1_l (_ ^ _)). now apply squares_enclose.
Qed.

(* ---------- `sign_of_balance` *)
Definition fabs (s : frac) : frac := (Z.abs (fst s), snd s).
Definition fle (s t : frac) := (fst s * snd t <=? fst t * snd s)%Z.
Definition quotient (s t : frac) : frac := (fst s * snd t, snd s * fst t)%Z.

(* equal sizes, one after another, are counted together *)
Fixpoint groups (l : list frac) : list (frac * Z) :=
  match l with
  | [] => []
  | s :: l => match groups l with
      | (size, excess) :: more =>
          if (fle (fabs s) size && fle size (fabs s))%bool then (size, (excess + Z.sgn (fst s))%Z) :: more
          else (fabs s, Z.sgn (fst s)) :: (size, excess) :: more
      | [] => [(fabs s, Z.sgn (fst s))]
      end
  end.

Definition shifted round z (s : Z) := if (0 <=? s)%Z then (z * 2 ^ s)%Z else round z (- s)%Z.
Definition sum_of_powers (l : list (frac * Z)) (unit : frac) q bits : Z * Z :=
  fold_right (fun sc most => let '(lo, hi, e) := power (quotient (fst sc) unit) q bits in
    (snd sc * shifted down lo (e + bits) + fst most, snd sc * shifted up hi (e + bits) + snd most)%Z) (0, 0)%Z l.

Fixpoint enclosed turns ups downs unit q bits : option Z :=
  match turns with
  | O => None
  | S turns => if (bits <=? MOST_BITS)%Z then
      let (least_up, most_up) := sum_of_powers ups unit q bits in
      let (least_down, most_down) := sum_of_powers downs unit q bits in
      if (most_down <? least_up)%Z then Some 1%Z else if (most_up <? least_down)%Z then Some (-1)%Z
      else enclosed turns ups downs unit q (bits * 2)%Z
    else None
  end.

Definition exact_terms side q (l : list (frac * Z)) : list frac :=
  map (fun sc => (side * snd sc * fst (fst sc) ^ Z.of_N (whole q), snd (fst sc) ^ Z.of_N (whole q))%Z) l.

Definition sign_of_balance (slopes : list frac) q : option Z :=
  let found := groups (sort (fun s t => fle (fabs s) (fabs t)) slopes) in
  let ups := filter (fun sc => 0 <? snd sc)%Z found in
  let downs := map (fun sc => (fst sc, (- snd sc)%Z)) (filter (fun sc => snd sc <? 0)%Z found) in
  match ups, downs with
  | [], [] => Some 0%Z
  | _, [] => Some 1%Z
  | [], _ => Some (-1)%Z
  | u :: _, d :: _ =>
      let up := fst (last ups u) in let down := fst (last downs d) in
      match enclosed 8 ups downs (if fle up down then down else up) q FEWEST_BITS with
      | Some sign => Some sign
      | None =>
          let bits := sum (fun sc => bit_length (Z.max (fst (fst sc)) (snd (fst sc)))) (ups ++ downs) in
          if (negb (rest q =? 0) || (LONGEST_POWERS <? Z.of_N (whole q) * bits))%Z then None
          else let terms := exact_terms 1 q ups ++ exact_terms (-1) q downs in Some (Z.sgn (fst (total (length terms) terms)))
      end
  end.

Definition positive_frac (s : frac) := (0 < fst s)%Z /\ (0 < snd s)%Z.
Definition weighed q (l : list (frac * Z)) := rsum (fun sc => IZR (snd sc) * Rpower (ratio (fst sc)) q) l.
Definition counted (l : list (frac * Z)) := forall sc, In sc l -> positive_frac (fst sc) /\ (0 < snd sc)%Z.

Lemma ratio_pos s : positive_frac s -> 0 < ratio s.
Proof. intros [A B]. apply Rdiv_lt_0_compat; now apply IZR_lt. Qed.

Lemma signed_power q s : power_of q (ratio s) = IZR (Z.sgn (fst s)) * power_of q (ratio (fabs s)).
Proof.
  unfold fabs, ratio. simpl. destruct (Z.lt_trichotomy (fst s) 0) as [H|[H|H]].
  - rewrite Z.sgn_neg, Z.abs_neq, opp_IZR by lia. unfold Rdiv. rewrite Ropp_mult_distr_l_reverse, power_odd. lra.
  - rewrite H. simpl. unfold Rdiv. rewrite Rmult_0_l, power_zero. lra.
  - rewrite Z.sgn_pos, Z.abs_eq by lia. lra.
Qed.

Lemma groups_sum q l : fractions l -> rsum (fun s => power_of q (ratio s)) l =
    rsum (fun sc => IZR (snd sc) * power_of q (ratio (fst sc))) (groups l) /\
  forall sc, In sc (groups l) -> (0 < snd (fst sc))%Z /\ (0 <= fst (fst sc))%Z /\ (fst (fst sc) = 0%Z -> snd sc = 0%Z).
Proof.
  unfold rsum. induction l as [|s l IH]; simpl; intros F; [split; [reflexivity | easy]|].
  destruct IH as [E G]; [intros t Ht; apply F; now right|]. pose proof (F s (or_introl eq_refl)) as B.
  assert (New : (0 < snd (fabs s))%Z /\ (0 <= fst (fabs s))%Z /\ (fst (fabs s) = 0%Z -> Z.sgn (fst s) = 0%Z)) by (unfold fabs; simpl; lia).
  rewrite E, (signed_power q s). destruct (groups l) as [|[size excess] more]; simpl in *.
  - split; [lra | intros sc [<-|[]]; exact New].
  - destruct (fle (fabs s) size && fle size (fabs s))%bool eqn:Q; simpl.
    + apply andb_true_iff in Q. unfold fle in Q. rewrite !Z.leb_le in Q. destruct (G (size, excess) (or_introl eq_refl)) as (G1 & G2 & G3). simpl in *.
      split; [|intros sc [<-|Hs]; [simpl; repeat split; auto; intros Z0; rewrite (G3 Z0); nia | apply G; now right]].
      assert (ratio (fabs s) = ratio size) as ->.
      { apply Rle_antisym; apply Rnot_lt_le; intros K; apply ratio_lt in K; unfold fabs in *; simpl in *; lia. }
      rewrite plus_IZR. lra.
    + split; [lra | intros sc [<-|[<-|Hs]]; auto].
Qed.

Lemma weighed_ge0 q l : counted l -> 0 <= weighed q l /\ (l <> [] -> 0 < weighed q l).
Proof.
  unfold weighed, rsum. induction l as [|[s c] l IH]; simpl; intros H; [split; [lra | easy]|].
  destruct IH as [A _]; [intros x Hx; apply H; now right|]. destruct (H (s, c) (or_introl eq_refl)) as [_ C]. apply IZR_lt in C. simpl in C.
  assert (0 < IZR c * Rpower (ratio s) q) by (apply Rmult_lt_0_compat; [assumption | apply exp_pos]). split; intros; lra.
Qed.

Lemma shifted_encloses lo hi s : IZR (shifted down lo s) <= IZR lo * powerRZ 2 s /\ IZR hi * powerRZ 2 s <= IZR (shifted up hi s).
Proof.
  unfold shifted. destruct (Z.leb_spec 0 s) as [P|P]; [rewrite !mult_IZR, two_whole by assumption; lra|].
  pose proof (down_le lo (- s) ltac:(lia)) as D. pose proof (up_ge hi (- s) ltac:(lia)) as U. pose proof (two_pos s).
  assert (K : powerRZ 2 (- s) * powerRZ 2 s = 1) by (rewrite <- two_add, Z.add_opp_diag_l; reflexivity).
  apply (Rmult_le_compat_r (powerRZ 2 s)) in D, U; [|lra..]. rewrite Rmult_assoc, K in D, U. lra.
Qed.

Lemma ratio_quotient s t : positive_frac s -> positive_frac t -> positive_frac (quotient s t) /\ ratio (quotient s t) = ratio s * / ratio t.
Proof.
  intros [A B] [C D]. split; [split; now apply Z.mul_pos_pos|]. unfold ratio, quotient. simpl. rewrite !mult_IZR.
  apply IZR_lt in A, B, C, D. field. lra.
Qed.

Lemma sum_of_powers_encloses l unit q bits : counted l -> positive_frac unit -> (0 <= rest q < 2 ^ Z.of_nat (places q))%Z ->
  let (least, most) := sum_of_powers l unit q bits in
  IZR least <= powerRZ 2 bits * Rpower (/ ratio unit) (real q) * weighed (real q) l <= IZR most.
Proof.
  intros C U Q. unfold weighed, rsum. induction l as [|[s c] l IH]; simpl; [lra|].
  destruct (C (s, c) (or_introl eq_refl)) as [Ps Pc]. simpl in Ps, Pc.
  specialize (IH ltac:(intros x Hx; apply C; now right)). fold (sum_of_powers l unit q bits).
  destruct (sum_of_powers l unit q bits) as [least most]. simpl. destruct (ratio_quotient s unit Ps U) as [Pq Rq].
  pose proof (power_encloses (quotient s unit) q bits (proj1 Pq) (proj2 Pq) Q) as Pw. destruct (power (quotient s unit) q bits) as [[lo hi] e].
  rewrite Rq, <- Rpower_mult_distr in Pw by (try apply Rinv_0_lt_compat; now apply ratio_pos).
  destruct Pw as (_ & L1 & L2). set (x := Rpower (ratio s) (real q) * Rpower (/ ratio unit) (real q)) in *.
  pose proof (two_pos bits) as Tb. destruct (shifted_encloses lo hi (e + bits)) as [S1 S2]. rewrite two_add in S1, S2.
  apply (Rmult_le_compat_r (powerRZ 2 bits)) in L1, L2; [|lra..]. apply IZR_lt in Pc. rewrite !plus_IZR, !mult_IZR.
  assert (B : IZR (shifted down lo (e + bits)) <= x * powerRZ 2 bits <= IZR (shifted up hi (e + bits))) by lra.
  destruct B as [B1 B2]. apply (Rmult_le_compat_l (IZR c)) in B1, B2; [unfold x in *; lra | lra..].
Qed.

Lemma enclosed_right ups downs unit q z : counted ups -> counted downs -> positive_frac unit -> (0 <= rest q < 2 ^ Z.of_nat (places q))%Z ->
  forall turns bits, enclosed turns ups downs unit q bits = Some z -> z = sgn (weighed (real q) ups - weighed (real q) downs).
Proof.
  intros Cu Cd U Q. induction turns as [|turns IH]; intros bits; cbn [enclosed]; [discriminate|].
  destruct (bits <=? MOST_BITS)%Z; [|discriminate].
  pose proof (sum_of_powers_encloses ups unit q bits Cu U Q) as Eu. pose proof (sum_of_powers_encloses downs unit q bits Cd U Q) as Ed.
  destruct (sum_of_powers ups unit q bits) as [lu mu], (sum_of_powers downs unit q bits) as [ld md].
  assert (K : 0 < powerRZ 2 bits * Rpower (/ ratio unit) (real q)) by (apply Rmult_lt_0_compat; [apply two_pos | apply exp_pos]).
  specialize (IH (bits * 2)%Z). rewrite <- (sgn_scale _ _ K), Rmult_minus_distr_l in IH |- *.
  destruct (Z.ltb_spec md lu) as [H|_]; [apply IZR_lt in H; intros E; injection E as <-; sign|].
  destruct (Z.ltb_spec mu ld) as [H|_]; [apply IZR_lt in H; intros E; injection E as <-; sign | exact IH].
Qed.

Lemma exact_sum side q l : counted l -> rest q = 0%Z -> fractions (exact_terms side q l) /\
  rsum ratio (exact_terms side q l) = IZR side * weighed (real q) l.
Proof.
  intros C Z0. assert (Re : real q = INR (N.to_nat (whole q))) by (unfold real; rewrite Z0; unfold Rdiv; lra).
  unfold exact_terms, weighed, rsum. induction l as [|[s c] l IH]; simpl; [split; [easy | lra]|].
  destruct (C (s, c) (or_introl eq_refl)) as [[P1 P2] _]. simpl in *. destruct IH as [F E]; [intros x Hx; apply C; now right|]. split.
  - intros t [<-|Ht]; [simpl; apply Z.pow_pos_nonneg; lia | now apply F].
  - rewrite E, Re, Rpower_pow by now apply ratio_pos. unfold ratio at 1. simpl. rewrite !mult_IZR.
    rewrite <- (N2Nat.id (whole q)) at 1 2. rewrite nat_N_Z, <- !pow_IZR. unfold ratio, Rdiv. rewrite Rpow_mult_distr, pow_inv. ring.
Qed.

(** `sign_of_balance`: if it says a sign, that is the sign of the sum of the signed powers. *)
Theorem sign_of_balance_right slopes q z : fractions slopes -> (0 <= rest q < 2 ^ Z.of_nat (places q))%Z ->
  sign_of_balance slopes q = Some z -> z = sgn (rsum (fun s => power_of (real q) (ratio s)) slopes).
Proof.
  intros F Q. unfold sign_of_balance. set (le := fun s t => fle (fabs s) (fabs t)). pose proof (sort_permutes _ le slopes) as P.
  destruct (groups_sum (real q) (sort le slopes)) as [E G]; [intros s Hs; apply F; now apply (Permutation_in _ (Permutation_sym P))|].
  rewrite (rsum_permutes _ _ _ P), E. set (found := groups (sort le slopes)) in *.
  set (ups := filter (fun sc => 0 <? snd sc)%Z found). set (downs := map _ (filter (fun sc => snd sc <? 0)%Z found)).
  assert (Sum : rsum (fun sc => IZR (snd sc) * power_of (real q) (ratio (fst sc))) found = weighed (real q) ups - weighed (real q) downs /\ counted ups /\ counted downs).
  { unfold ups, downs, weighed, rsum, counted. clear E P. induction found as [|[s c] l IH]; simpl; [repeat split; try easy; lra|].
    destruct IH as (E & Cu & Cd); [intros; apply G; now right|]. destruct (G (s, c) (or_introl eq_refl)) as (G1 & G2 & G3). simpl in *. rewrite E.
    assert (Ps : c <> 0%Z -> positive_frac s) by (split; lia). pose proof (fun N => power_pos (real q) _ (ratio_pos s (Ps N))) as Pp.
    destruct (Z.ltb_spec 0 c), (Z.ltb_spec c 0); try lia; simpl; rewrite ?opp_IZR.
    1-2: rewrite Pp by lia; split; [lra | split]; auto; intros t [<-|I]; auto; split; [apply Ps | simpl]; lia.
    replace c with 0%Z by lia. split; [lra | auto]. }
  destruct Sum as (-> & Cu & Cd). clearbody ups downs. clear E G P found.
  destruct (weighed_ge0 (real q) ups Cu) as [_ Wu], (weighed_ge0 (real q) downs Cd) as [_ Wd].
  assert (Z0 : weighed (real q) [] = 0) by reflexivity.
  destruct ups as [|u us] eqn:Eu, downs as [|d ds] eqn:Ed; rewrite ?Z0.
  - intros H. injection H as <-. rewrite Rminus_0_r. now rewrite sgn_IZR.
  - specialize (Wd ltac:(easy)). intros H. injection H as <-. sign.
  - specialize (Wu ltac:(easy)). intros H. injection H as <-. sign.
  - rewrite <- Eu, <- Ed in *. set (unit := if fle _ _ then _ else _).
    assert (Last : forall l x : _, counted l -> l <> [] -> positive_frac (fst (last l x))).
    { intros l x C N. apply (C (last l x)). rewrite (app_removelast_last x N) at 2. apply in_app_iff. right. now left. }
    assert (U : positive_frac unit) by (unfold unit; destruct (fle _ _); apply Last; auto; congruence).
    destruct (enclosed 8 ups downs unit q FEWEST_BITS) as [sign|] eqn:En.
    + intros H. injection H as <-. now apply (enclosed_right ups downs unit q sign Cu Cd U Q 8 FEWEST_BITS).
    + destruct (negb (rest q =? 0)%Z || _)%bool eqn:N; [discriminate|]. intros H. injection H as <-. apply orb_false_iff in N. destruct N as [N _].
      apply negb_false_iff, Z.eqb_eq in N. destruct (exact_sum 1 q ups Cu N) as [Fu Su], (exact_sum (-1) q downs Cd N) as [Fd Sd].
      rewrite total_sign by (intros s Hs; apply in_app_iff in Hs; destruct Hs; auto). f_equal.
      rewrite rsum_app, Su, Sd. lra.
Qed.

(* ---------- what the checker learns of a balance *)
Section Balance.
Variables (E : list edge) (unit scale : R) (values : nat -> Z) (x : nat) (z : Z).
Hypothesis unit_pos : 0 < unit.
Hypothesis scale_pos : 0 < scale.
Hypothesis lengths : forall e, In e E -> (0 < snd e)%Z.

Lemma slopes_fractions : fractions (slopes E values x).
Proof.
  intros s Hs. apply in_map_iff in Hs. destruct Hs as (t & <- & Ht). apply in_map_iff in Ht. destruct Ht as (e & <- & He).
  apply filter_In in He. now apply lengths.
Qed.

(** p = 2: the sign of `sign_of_sum` is that of the balance of the harmonic extension. *)
Theorem harmonic_sign : sign_of_sum (slopes E values x) = Some z ->
  z = sgn (balance_p 2 (map (arc_of scale) E) (field_of unit values) x).
Proof.
  intros H. rewrite (sign_of_sum_right _ z slopes_fractions H), balance_in_units by assumption. f_equal. unfold rsum. f_equal.
  apply map_ext. intros s. replace (2 - 1) with 1 by lra. now rewrite power_one.
Qed.

(** Other p: the sign of `sign_of_balance` is that of the balance of the p-Laplacian. *)
Theorem p_sign q : (0 <= rest q < 2 ^ Z.of_nat (places q))%Z -> sign_of_balance (slopes E values x) q = Some z ->
  z = sgn (balance_p (real q + 1) (map (arc_of scale) E) (field_of unit values) x).
Proof.
  intros Q H. rewrite (sign_of_balance_right _ q z slopes_fractions Q H), balance_in_units by assumption. f_equal. unfold rsum. f_equal.
  apply map_ext. intros s. now replace (real q + 1 - 1) with (real q) by lra.
Qed.
End Balance.
