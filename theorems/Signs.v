(* Slopes in whole numbers: `_steepness` by multiplying out, and enclosures of powers (`_product`,
   `_root`). Values are multiples of one unit, lengths of another; values that are fractions are
   whole in units of their common denominator. *)
From Wayfield Require Import Lists Graph Field.
Open Scope R_scope.

Definition sgn (x : R) : Z := if Rlt_dec 0 x then 1 else if Rlt_dec x 0 then -1 else 0.

(* a sign that follows from what is known *)
Ltac sign := unfold sgn; repeat destruct (Rlt_dec _ _); (reflexivity || lra || (exfalso; intuition lra)).

Lemma sgn_scale c x : 0 < c -> sgn (c * x) = sgn x.
Proof.
  intros Hc. pose proof (Rmult_lt_0_compat c x). pose proof (Rmult_lt_0_compat c (- x)).
  destruct (Rtotal_order x 0) as [H1|[->|H1]]; rewrite ?Rmult_0_r; sign.
Qed.

Lemma sgn_IZR z : sgn (IZR z) = Z.sgn z.
Proof.
  destruct z as [|p|p]; [|pose proof (IZR_lt 0 (Z.pos p) eq_refl) | pose proof (IZR_lt (Z.neg p) 0 eq_refl)]; sign.
Qed.

(* ---------- the steepest slopes *)
Definition edge := (nat * nat * Z)%type.                 (* from, to, length *)
Definition row_out (E : list edge) x := map (fun e => (snd (fst e), snd e)) (filter (fun e => Nat.eqb (fst (fst e)) x) E).
Definition row_in (E : list edge) x := map (fun e => (fst (fst e), snd e)) (filter (fun e => Nat.eqb (snd (fst e)) x) E).

(* `for y, length in row`: the steepest so far, as rise and length *)
Fixpoint steepest_of (rise : nat -> Z) (row : list (nat * Z)) (best : Z * Z) : Z * Z :=
  match row with
  | [] => best
  | (y, length) :: row =>
      steepest_of rise row (if (fst best * length <? rise y * snd best)%Z then (rise y, length) else best)
  end.
Definition steepness (values : nat -> Z) x out into :=
  let (up, up_length) := steepest_of (fun y => values y - values x)%Z into (0, 1)%Z in
  let (down, down_length) := steepest_of (fun y => values x - values y)%Z out (0, 1)%Z in
  Z.sgn (up * down_length - down * up_length).

Definition ratio (s : Z * Z) := IZR (fst s) / IZR (snd s).

Lemma ratio_lt s t : (0 < snd s)%Z -> (0 < snd t)%Z -> (fst s * snd t < fst t * snd s)%Z <-> ratio s < ratio t.
Proof.
  intros Hs%IZR_lt Ht%IZR_lt. pose proof (Rinv_0_lt_compat _ (Rmult_lt_0_compat _ _ Hs Ht)) as P.
  assert (ratio t - ratio s = (IZR (fst t * snd s) - IZR (fst s * snd t)) * / (IZR (snd s) * IZR (snd t)))
    by (rewrite !mult_IZR; unfold ratio; field; lra).
  split; intros K; [apply IZR_lt in K | apply lt_IZR]; nra.
Qed.

Section Units.
Variables (E : list edge) (unit scale : R) (values : nat -> Z).
Hypothesis unit_pos : 0 < unit.
Hypothesis scale_pos : 0 < scale.
Hypothesis lengths : forall e, In e E -> (0 < snd e)%Z.
Definition arc_of (e : edge) := Arc (fst (fst e)) (snd (fst e)) (scale * IZR (snd e)).
Definition field_of x := unit * IZR (values x).
Let G := map arc_of E.

Lemma filter_arcs (f : arc -> bool) : filter f G = map arc_of (filter (fun e => f (arc_of e)) E).
Proof. unfold G. clear lengths. induction E as [|e l IH]; simpl; [reflexivity|]. rewrite IH. now destruct (f (arc_of e)). Qed.
Lemma slope_of e y z : In e E -> (field_of y - field_of z) / (scale * IZR (snd e)) = unit / scale * ratio ((values y - values z)%Z, snd e).
Proof. intros He. apply lengths, IZR_lt in He. unfold field_of, ratio. simpl. rewrite minus_IZR. field. lra. Qed.
Lemma units_pos : 0 < unit / scale.
Proof. now apply Rdiv_lt_0_compat. Qed.

Lemma steepest_units (f : nat -> Z) to A : (forall e, In e A -> (0 < snd e)%Z) ->
  (forall e, In e A -> fall field_of (arc_of e) = unit / scale * ratio (f (to e), snd e)) ->
  forall best, (0 < snd best)%Z -> 0 <= ratio best -> let last := steepest_of f (map (fun e => (to e, snd e)) A) best in
  (0 < snd last)%Z /\ unit / scale * ratio last = Rmax (unit / scale * ratio best) (steepest field_of (map arc_of A)).
Proof.
  pose proof units_pos as U. unfold steepest. induction A as [|e A IH]; intros Len F best Hb Rb; simpl.
  - split; [assumption|]. rewrite Rmax_left by nra. reflexivity.
  - rewrite F, Rmax_assoc, RmaxRmult by (auto using in_eq || lra). pose proof (Len e (or_introl eq_refl)) as Hl.
    destruct (Z.ltb_spec (fst best * snd e) (f (to e) * snd best)) as [L|L].
    + apply (ratio_lt best (f (to e), snd e)) in L; [|assumption..].
      rewrite (Rmax_right (ratio best)) by lra. apply IH; auto using in_cons. lra.
    + assert (Q : ratio (f (to e), snd e) <= ratio best).
      { apply Rnot_lt_le. intros K. apply (ratio_lt best (f (to e), snd e)) in K; simpl in *; lia. }
      rewrite (Rmax_left (ratio best)) by exact Q. apply IH; auto using in_cons.
Qed.

(** `_steepness`: the loops over whole numbers, multiplied out, give the sign of S+ - S-. *)
Theorem steepness_sign x : steepness values x (row_out E x) (row_in E x) = sgn (balance_amle G field_of x).
Proof.
  unfold balance_amle, S_up, S_down, steepness, row_out, row_in, out, into.
  rewrite !filter_arcs. cbn [arc_of head tail].
  assert (Row : forall f to (there : nat * nat * Z -> bool), (forall e, In e E -> there e = true ->
      fall field_of (arc_of e) = unit / scale * ratio (f (to e), snd e)) ->
    let found := steepest_of f (map (fun e : nat * nat * Z => (to e, snd e)) (filter there E)) (0, 1)%Z in
    (0 < snd found)%Z /\ steepest field_of (map arc_of (filter there E)) = unit / scale * ratio found).
  { intros f to there H. destruct (steepest_units f to (filter there E)) with (best := (0, 1)%Z) as [P R];
      try (intros e He; apply filter_In in He as [He T]); auto; [simpl; lia | unfold ratio; simpl; lra |].
    replace (ratio (0, 1)%Z) with 0 in R by (unfold ratio; simpl; lra).
    rewrite Rmult_0_r, Rmax_right in R by apply steepest_nonneg. split; [exact P | now symmetry]. }
  unfold edge in Row |- *.
  Local Ltac at_vertex := intros e He Hx%Nat.eqb_eq; unfold fall, arc_of; simpl; rewrite Hx; now apply slope_of.
  destruct (Row (fun y => values y - values x)%Z (fun e => fst (fst e)) (fun e => Nat.eqb (snd (fst e)) x))
    as [Pu ->]; [at_vertex|].
  destruct (Row (fun y => values x - values y)%Z (fun e => snd (fst e)) (fun e => Nat.eqb (fst (fst e)) x))
    as [Pd ->]; [at_vertex|].
  rewrite <- Rmult_minus_distr_l, sgn_scale by apply units_pos.
  destruct (steepest_of _ _ _) as [u lu], (steepest_of _ _ _) as [d ld]. simpl in *. rewrite <- sgn_IZR.
  apply IZR_lt in Pu, Pd. rewrite <- (sgn_scale (IZR lu * IZR ld) (_ - _)) by now apply Rmult_lt_0_compat.
  f_equal. unfold ratio. rewrite minus_IZR, !mult_IZR. simpl. field. lra.
Qed.

(* ---------- powers: another unit multiplies a balance by a positive number *)
Lemma power_scale q c t : 0 < c -> power_of q (c * t) = Rpower c q * power_of q t.
Proof.
  intros Hc. revert t. apply by_sign.
  - intros t Ht. rewrite !power_pos by (try apply Rmult_lt_0_compat; lra). now rewrite Rpower_mult_distr.
  - rewrite Rmult_0_r, power_zero. lra.
  - intros t Ht. rewrite Ropp_mult_distr_r_reverse, !power_odd, Ht. lra.
Qed.

Lemma power_one t : power_of 1 t = t.
Proof. revert t. apply by_sign; intros; rewrite ?power_pos, ?power_zero, ?power_odd, ?Rpower_1 by assumption; lra. Qed.

(* the slopes that the checker adds up, powers taken *)
Definition slopes x := map (fun s => ((values (fst s) - values x)%Z, snd s)) (row_out E x).

(** The balance of the p-Laplacian has the sign of the sum of powers of slopes in the file's units. *)
Theorem balance_in_units p x : sgn (balance_p p G field_of x) =
  sgn (fold_right Rplus 0 (map (fun s => power_of (p - 1) (ratio s)) (slopes x))).
Proof.
  unfold balance_p, PLaplacian.balance, Lists.rsum, out. rewrite filter_arcs. cbn [arc_of tail]. unfold edge.
  rewrite <- (sgn_scale (Rpower (unit / scale) (p - 1)) (fold_right _ _ (map _ (slopes x)))) by apply exp_pos. f_equal.
  unfold slopes, row_out. rewrite !map_map. simpl. clear G. assert (H : forall e, In e (filter (fun e => Nat.eqb (fst (fst e)) x) E) -> In e E /\ fst (fst e) = x).
  { intros e He. apply filter_In in He. now rewrite Nat.eqb_eq in He. }
  induction (filter (fun e => Nat.eqb (fst (fst e)) x) E) as [|e l IH]; simpl; [lra|]. rewrite IH by (intros; apply H; now right).
  destruct (H e (or_introl eq_refl)) as [He Hx]. unfold PLaplacian.flux, arc_of. simpl. rewrite Hx, slope_of by assumption.
  rewrite power_scale by apply units_pos. lra.
Qed.
End Units.

(* ---------- enclosures: lo 2^e <= x <= hi 2^e *)
Definition enclosure := (Z * Z * Z)%type.
Definition encloses (a : enclosure) x :=
  let '(lo, hi, e) := a in (0 <= lo)%Z /\ IZR lo * powerRZ 2 e <= x <= IZR hi * powerRZ 2 e.

Lemma two_pos e : 0 < powerRZ 2 e.
Proof. apply powerRZ_lt. lra. Qed.
Lemma two_add e f : powerRZ 2 (e + f) = powerRZ 2 e * powerRZ 2 f.
Proof. apply powerRZ_add. lra. Qed.
Lemma two_whole c : (0 <= c)%Z -> powerRZ 2 c = IZR (2 ^ c).
Proof. intros H. rewrite <- (Z2Nat.id c), <- pow_powerRZ, pow_IZR by assumption. reflexivity. Qed.

Definition bit_length z := if (z =? 0)%Z then 0%Z else (Z.log2 (Z.abs z) + 1)%Z.
(* z >> c, downwards, and upwards *)
Definition down z c := (z / 2 ^ c)%Z.
Definition up z c := (- (- z / 2 ^ c))%Z.

Lemma down_le z c : (0 <= c)%Z -> IZR (down z c) * powerRZ 2 c <= IZR z.
Proof.
  intros H. rewrite two_whole, <- mult_IZR by assumption. apply IZR_le. unfold down. rewrite Z.mul_comm.
  apply Z.mul_div_le, Z.pow_pos_nonneg; lia.
Qed.

Lemma up_ge z c : (0 <= c)%Z -> IZR z <= IZR (up z c) * powerRZ 2 c.
Proof. intros H. unfold up. pose proof (down_le (- z) c H) as D. unfold down in D. rewrite opp_IZR in *. lra. Qed.

Definition product (bits : Z) (a b : enclosure) : enclosure :=
  let '(lo, hi, e) := a in let '(lo', hi', e') := b in
  let cut := Z.max 0 (bit_length (hi * hi') - bits) in
  (down (lo * lo') cut, up (hi * hi') cut, e + e' + cut)%Z.

Definition root (bits : Z) (a : enclosure) : enclosure :=
  let '(lo, hi, e) := a in
  let shift := Z.max 0 (2 * bits - bit_length hi) in
  let shift := (shift + (e - shift) mod 2)%Z in
  (Z.sqrt (lo * 2 ^ shift), Z.sqrt (hi * 2 ^ shift - 1) + 1, (e - shift) / 2)%Z.

(** `_product`: the product of enclosed numbers lies in the product of their enclosures, cut off. *)
Theorem product_encloses bits a b x y : encloses a x -> encloses b y -> encloses (product bits a b) (x * y).
Proof.
  destruct a as [[lo hi] e], b as [[lo' hi'] e']. intros (P & Lx & Hx) (P' & Ly & Hy). unfold product, encloses.
  set (c := Z.max 0 _). assert (Hc : (0 <= c)%Z) by lia.
  split; [apply Z.div_pos; [now apply Z.mul_nonneg_nonneg | apply Z.pow_pos_nonneg; lia]|].
  rewrite !two_add. pose proof (two_pos e). pose proof (two_pos e').
  pose proof (Rmult_lt_0_compat _ _ (two_pos e) (two_pos e')) as Pe. apply IZR_le in P, P'.
  assert (0 <= IZR lo * powerRZ 2 e) by (apply Rmult_le_pos; lra). assert (0 <= IZR lo' * powerRZ 2 e') by (apply Rmult_le_pos; lra).
  pose proof (down_le (lo * lo') c Hc) as D. pose proof (up_ge (hi * hi') c Hc) as U. rewrite mult_IZR in D, U.
  apply (Rmult_le_compat_r (powerRZ 2 e * powerRZ 2 e')) in D, U; [|lra|lra].
  pose proof (Rmult_le_compat _ _ _ _ H1 H2 Lx Ly). pose proof (Rmult_le_compat x _ y _ ltac:(lra) ltac:(lra) Hx Hy). lra.
Qed.

(** `_root`: likewise for the square root. *)
Theorem root_encloses bits a x : 0 < x -> encloses a x -> encloses (root bits a) (sqrt x).
Proof.
  destruct a as [[lo hi] e]. intros X (P & L & H). unfold root, encloses.
  set (m := Z.max 0 (2 * bits - bit_length hi)). set (s := (m + (e - m) mod 2)%Z). set (f := ((e - s) / 2)%Z).
  pose proof (Z.mod_pos_bound (e - m) 2 ltac:(lia)) as Mod. assert (Hm : (0 <= m)%Z) by apply Z.le_max_l. assert (Hs : (0 <= s)%Z) by (unfold s; lia).
  assert (Ef : (e - s = 2 * f)%Z) by (unfold f, s; clear; Z.div_mod_to_equations; lia).
  assert (Hh : (0 < hi)%Z). { apply lt_IZR. pose proof (two_pos e). apply Rmult_lt_reg_r with (powerRZ 2 e); lra. }
  assert (B : (0 < 2 ^ s)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (Et : powerRZ 2 e = IZR (2 ^ s) * (powerRZ 2 f * powerRZ 2 f)).
  { rewrite <- two_add, <- (two_whole s Hs), <- two_add. f_equal. lia. }
  pose proof (two_pos f) as F. assert (FF : 0 <= powerRZ 2 f * powerRZ 2 f) by (apply Rmult_le_pos; lra).
  assert (Root : forall r : Z, (0 <= r)%Z -> let y := IZR r * powerRZ 2 f in (y * y <= x -> y <= sqrt x) /\ (x <= y * y -> sqrt x <= y)).
  { intros r R0 y. assert (0 <= y) by (apply Rmult_le_pos; [now apply IZR_le | lra]).
    pose proof (sqrt_sqrt x ltac:(lra)). pose proof (sqrt_lt_R0 x X). split; nra. }
  pose proof (Z.mul_pos_pos hi _ Hh B). pose proof (Z.mul_nonneg_nonneg lo _ P (Z.lt_le_incl _ _ B)) as Hl.
  pose proof (Z.sqrt_spec _ Hl) as [Q _]. pose proof (Z.sqrt_spec (hi * 2 ^ s - 1) ltac:(lia)) as [_ Q'].
  pose proof (Z.sqrt_nonneg (lo * 2 ^ s)) as R. pose proof (Z.sqrt_nonneg (hi * 2 ^ s - 1)) as R'. unfold Z.succ in Q'.
  split; [exact R|]. rewrite Et in L, H. set (r := Z.sqrt (lo * 2 ^ s)) in *. set (r' := Z.sqrt (hi * 2 ^ s - 1)) in *.
  split; apply Root; try lia; [apply IZR_le in Q | apply Zlt_le_succ, IZR_le in Q'; unfold Z.succ in Q'].
  - rewrite !mult_IZR in Q. apply (Rmult_le_compat_r _ _ _ FF) in Q. lra.
  - rewrite Z.sub_add, !mult_IZR in Q'. apply (Rmult_le_compat_r _ _ _ FF) in Q'. lra.
Qed.
