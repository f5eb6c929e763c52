(* Processes whose moves may fail: choices and outcomes, policies, and expectations after t moves. *)
From Wayfield Require Import Lists.
Open Scope R_scope.

Record outcome := Outcome { count : R; cost : R; next : nat }.
Definition choice := list outcome.

(* what the checker computes at a choice of x: C = sum w c, and R(f) = sum w (f(y) - f(x)) *)
Definition C (k : choice) := wsum count cost k.
Definition Rise (k : choice) (f : nat -> R) (x : nat) := wsum count (fun o => f (next o) - f x) k.
Definition proper (k : choice) := k <> [] /\ forall o, In o k -> 0 < count o /\ 0 <= cost o.

(* ---------- means over the outcomes: sums with their shares *)
Definition size (k : choice) := rsum count k.
Definition share k o := count o / size k.
Notation mean k f := (wsum (share k%list) f k).

Lemma size_pos k : proper k -> 0 < size k.
Proof.
  intros [N P]. destruct k as [|o k]; [congruence|]. destruct (P o (or_introl eq_refl)).
  destruct (sum_part count (o :: k)) as [_ S]; [intros b Hb; destruct (P b Hb); lra|].
  specialize (S o (or_introl eq_refl)). unfold size. lra.
Qed.

Lemma share_pos k o : proper k -> In o k -> 0 < share k o.
Proof. intros Pr Ho. apply Rdiv_lt_0_compat; [now apply Pr | now apply size_pos]. Qed.

Lemma by_size k f : proper k -> wsum count f k = size k * mean k f.
Proof. intros Pr%size_pos. rewrite <- wsum_scal. apply rsum_ext. intros o _. unfold share. field. lra. Qed.

Lemma mean_le k f g : proper k -> (forall o, In o k -> f o <= g o) -> mean k f <= mean k g.
Proof.
  intros Pr H. apply rsum_le. intros o Ho. apply Rmult_le_compat_l; [left; now apply share_pos | now apply H].
Qed.

Lemma mean_const k r : proper k -> mean k (fun _ => r) = r.
Proof.
  intros Pr. pose proof (size_pos k Pr). apply (Rmult_eq_reg_l (size k)); [|lra]. rewrite <- by_size by assumption.
  unfold size, wsum, rsum. clear. induction k; simpl; lra.
Qed.

Lemma mean_ge k f r : proper k -> (forall o, In o k -> r <= f o) -> r <= mean k f.
Proof. intros Pr H. rewrite <- (mean_const k r Pr). now apply mean_le. Qed.
Lemma mean_most k f r : proper k -> (forall o, In o k -> f o <= r) -> mean k f <= r.
Proof. intros Pr H. rewrite <- (mean_const k r Pr). now apply mean_le. Qed.

(* a mean of numbers up to b is below b by the share of an outcome times what that is below b *)
Lemma mean_below k f b o : proper k -> (forall o, In o k -> f o <= b) -> In o k -> mean k f <= b - share k o * (b - f o).
Proof.
  intros Pr H Ho. assert (P : share k o * (b + -1 * f o) <= mean k (fun o => b + -1 * f o)).
  { apply (wsum_one _ (fun o => b + -1 * f o)); [|assumption].
    intros a Ha. pose proof (share_pos k a Pr Ha). specialize (H a Ha). lra. }
  rewrite wsum_plus, mean_const, wsum_scal in P by assumption. lra.
Qed.

(* the checker's comparisons in terms of means *)
Lemma in_means k f x : proper k -> 0 < size k /\ C k = size k * mean k cost /\
  Rise k f x = size k * (mean k (fun o => f (next o)) - f x).
Proof.
  intros Pr. split; [now apply size_pos|]. split; [now apply by_size|]. unfold Rise. rewrite by_size by assumption.
  f_equal. now rewrite (wsum_plus _ (fun o => f (next o)) (fun _ => - f x)), mean_const.
Qed.

Lemma drift fee k f x : proper k ->
  (0 <= fee * C k + Rise k f x -> f x <= mean k (fun o => fee * cost o + f (next o))) /\
  (fee * C k + Rise k f x <= 0 -> mean k (fun o => fee * cost o + f (next o)) <= f x).
Proof. intros Pr. destruct (in_means k f x Pr) as (S & -> & ->). rewrite wsum_plus, wsum_scal. split; nra. Qed.

(* finitely many states have a bound *)
Lemma bound_of (n : nat) (f : nat -> R) : exists M, forall x, (x < n)%nat -> - M <= f x <= M.
Proof. destruct (bounded f (seq 0 n)) as (M & _ & B). exists M. intros x Hx. apply B, in_seq. lia. Qed.

(* below each positive one of finitely many numbers *)
Lemma least {A} (f : A -> R) l : exists e, 0 < e < 1 /\ forall a, In a l -> 0 < f a -> e < f a.
Proof.
  induction l as [|a l (e & He & B)]; [exists (1 / 2); split; [lra | easy]|]. destruct (Rlt_dec 0 (f a)).
  - exists (Rmin e (f a / 2)). pose proof (Rmin_l e (f a / 2)). pose proof (Rmin_r e (f a / 2)).
    assert (0 < Rmin e (f a / 2)) by (apply Rmin_glb_lt; lra).
    split; [lra|]. intros b [<-|Hb] P; [lra | specialize (B b Hb P); lra].
  - exists e. split; [assumption|]. intros b [<-|Hb] P; [lra | auto].
Qed.

(* ---------- policies may depend on the past, and may be random *)
Inductive move := Stay | GiveUp | Take (k : choice).
Definition past := list (nat * choice * outcome).
Definition policy := past -> nat -> list (R * move).

Definition dsum (d : list (R * move)) (f : move -> R) := wsum fst (fun qm => f (snd qm)) d.

(* the expectation, after t moves, of what was paid (times fee), plus e of the end that was reached,
   gu after giving up, and op where the walk has not ended *)
Fixpoint value (ends : nat -> bool) fee (e : nat -> R) gu op (pi : policy) t (h : past) x : R :=
  if ends x then e x else
  match t with
  | O => op
  | S t => dsum (pi h x) (fun m => match m with
      | Stay => op
      | GiveUp => gu
      | Take k => mean k (fun o => fee * cost o + value ends fee e gu op pi t ((x, k, o) :: h) (next o))
      end)
  end.

Definition paid ends Y price := value ends 1 Y price 0.       (* the cost of the first t moves and of ending *)
Definition alive ends := value ends 0 (fun _ => 0) 0 1.       (* the probability of not having ended *)
Definition arrive ends := value ends 0 (fun _ => 1) 0 0.      (* the probability of having ended at a state of F *)
Definition surely ends pi h x := forall eps, 0 < eps -> exists T, forall t, (T <= t)%nat -> alive ends pi t h x < eps.

(* a bound on the expected cost of a policy from below, if it ends surely; and from above, with that *)
Definition costs_at_least ends Y price pi h x r := forall s, surely ends pi h x ->
  Un_cv (fun t => paid ends Y price pi t h x) s -> r <= s.
Definition costs_at_most ends Y price pi h x r := surely ends pi h x /\
  exists s, Un_cv (fun t => paid ends Y price pi t h x) s /\ s <= r.

Section Walks.
(* states are 0 .. n-1; quits: where giving up is allowed *)
Context {n : nat} {choices : nat -> choice -> Prop} {quits : nat -> bool}.
Hypothesis choices_proper : forall x k, choices x k -> proper k.
Hypothesis choices_inside : forall x k o, (x < n)%nat -> choices x k -> In o k -> (next o < n)%nat.

Definition allowed x (m : move) :=
  match m with Stay => True | GiveUp => quits x = true | Take k => choices x k end.
Definition legal (pi : policy) := forall h x, (x < n)%nat ->
  dsum (pi h x) (fun _ => 1) = 1 /\ forall q m, In (q, m) (pi h x) -> 0 < q /\ allowed x m.

Context {pi : policy}.
Hypothesis Le : legal pi.

Lemma dsum_scal d r f : dsum d (fun m => r * f m) = r * dsum d f.
Proof. apply wsum_scal. Qed.
Lemma dsum_const h x r : (x < n)%nat -> dsum (pi h x) (fun _ => r) = r.
Proof. intros Hx. rewrite <- (Rmult_1_r r), dsum_scal. destruct (Le h x Hx) as [-> _]. lra. Qed.
Lemma moves_le h x f g : (x < n)%nat -> (forall q m, In (q, m) (pi h x) -> allowed x m -> f m <= g m) ->
  dsum (pi h x) f <= dsum (pi h x) g.
Proof.
  intros Hx H. apply rsum_le. intros [q m] I. destruct (proj2 (Le h x Hx) q m I).
  apply Rmult_le_compat_l; simpl; [lra | now apply (H q m)].
Qed.
Lemma moves_ge h x r g : (x < n)%nat -> (forall q m, In (q, m) (pi h x) -> allowed x m -> r <= g m) ->
  r <= dsum (pi h x) g.
Proof. intros Hx H. rewrite <- (dsum_const h x r Hx). now apply moves_le. Qed.
Lemma moves_most h x r f : (x < n)%nat -> (forall q m, In (q, m) (pi h x) -> allowed x m -> f m <= r) ->
  dsum (pi h x) f <= r.
Proof. intros Hx H. rewrite <- (dsum_const h x r Hx). now apply moves_le. Qed.

Lemma value_linear ends fee e gu op fee' e' gu' op' r t h x :
  value ends fee e gu op pi t h x + r * value ends fee' e' gu' op' pi t h x =
  value ends (fee + r * fee') (fun y => e y + r * e' y) (gu + r * gu') (op + r * op') pi t h x.
Proof.
  revert h x. induction t as [|t IH]; intros h x; simpl; destruct (ends x); auto.
  rewrite <- dsum_scal. unfold dsum. rewrite <- wsum_plus. apply rsum_ext. intros [q [| |k]] _; simpl; auto. f_equal.
  rewrite <- wsum_scal, <- wsum_plus. apply rsum_ext. intros o _. rewrite <- IH. lra.
Qed.

(* Induction over moves: a field f that rises in the mean, where I holds, is no more than the value;
   and likewise for one that falls. *)
Lemma value_bound (le : R -> R -> Prop) ends (I : past -> nat -> Prop) f fee e gu op : le = Rle \/ le = (fun a b => b <= a) ->
  (forall h x, I h x -> (x < n)%nat /\ le (f x) op /\ (ends x = true -> le (f x) (e x))) ->
  (forall h x q m, I h x -> ends x = false -> In (q, m) (pi h x) -> allowed x m ->
    match m with
    | Stay => True
    | GiveUp => le (f x) gu
    | Take k => (forall o, In o k -> I ((x, k, o) :: h) (next o)) /\ le (f x) (mean k (fun o => fee * cost o + f (next o)))
    end) ->
  forall t h x, I h x -> le (f x) (value ends fee e gu op pi t h x).
Proof.
  intros Or B D. induction t as [|t IH]; intros h x Hi; destruct (B h x Hi) as (Hx & Op & En); simpl;
    destruct (ends x) eqn:Ex; auto.
  destruct Or as [->| ->]; [apply moves_ge | apply moves_most]; auto; intros q m Hm Al; specialize (D h x q m Hi Ex Hm Al);
    destruct m as [| |k]; auto; destruct D as [In S]; first [eapply Rle_trans; [exact S|] | eapply Rle_trans; [|exact S]];
    (apply mean_le; [now apply (choices_proper x)|]); intros o Ho; specialize (IH _ _ (In o Ho)); simpl in IH; lra.
Qed.
Definition value_ge ends I f fee e gu op := value_bound Rle ends I f fee e gu op (or_introl eq_refl).
Definition value_le ends I f fee e gu op := value_bound (fun a b => b <= a) ends I f fee e gu op (or_intror eq_refl).

(* with no fee, values lie between those of the ends *)
Lemma value_range ends e gu op lo hi : (forall x, (x < n)%nat -> lo <= e x <= hi) -> lo <= gu <= hi -> lo <= op <= hi ->
  forall t h x, (x < n)%nat -> lo <= value ends 0 e gu op pi t h x <= hi.
Proof.
  intros E G O. induction t as [|t IH]; intros h x Hx; simpl; destruct (ends x); auto.
  split; [apply moves_ge | apply moves_most]; auto; intros q [| |k] _ Al; try lra; [apply mean_ge | apply mean_most]; eauto;
    intros o Ho; specialize (IH ((x, k, o) :: h) (next o) ltac:(eauto)); lra.
Qed.

Lemma alive_range ends t h x : (x < n)%nat -> 0 <= alive ends pi t h x <= 1.
Proof. apply value_range; intros; lra. Qed.

(* a policy that surely ends does so from wherever it may lead *)
Lemma surely_next ends h x q k o : (x < n)%nat -> ends x = false -> In (q, Take k) (pi h x) ->
  surely ends pi h x -> In o k -> (next o < n)%nat /\ surely ends pi ((x, k, o) :: h) (next o).
Proof.
  intros Hx En Hq Su Ho. destruct (Le h x Hx) as [_ A]. destruct (A q (Take k) Hq) as [Pq Al]. simpl in Al.
  split; [eauto|]. intros eps He.
  pose proof (choices_proper x k Al) as Pr. pose proof (share_pos k o Pr Ho) as Ps.
  destruct (Su (q * (share k o * eps))) as (T & HT); [apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; assumption|].
  exists T. intros t Ht. specialize (HT (S t) (le_S _ _ Ht)). unfold alive in *. simpl in HT. rewrite En in HT.
  set (a := fun k o => 0 * cost o + value ends 0 (fun _ => 0) 0 1 pi t ((x, k, o) :: h) (next o)) in *.
  assert (a0 : forall k o, choices x k -> In o k -> 0 <= a k o).
  { intros k' o' C I. unfold a. rewrite Rmult_0_l, Rplus_0_l. apply alive_range. eauto. }
  assert (M : share k o * a k o <= mean k (a k)).
  { apply wsum_one; [|assumption]. intros o' I. split; [left; now apply share_pos | auto]. }
  set (F := fun m => match m with Stay => 1 | GiveUp => 0 | Take k => mean k (a k) end).
  assert (D : q * F (Take k) <= dsum (pi h x) F).
  { apply (wsum_one fst (fun qm => F (snd qm)) _ (q, Take k)); [|assumption]. intros [q' m] Hm.
    destruct (A q' m Hm) as [Q Am]. simpl. split; [lra|]. destruct m as [| |k']; simpl; try lra. apply mean_ge; eauto. }
  change (dsum (pi h x) F < q * (share k o * eps)) in HT. apply (Rmult_lt_reg_l (share k o)); [assumption|].
  change (q * mean k (a k) <= dsum (pi h x) F) in D. unfold a at 1 in M. nra.
Qed.

Lemma constant_cv r : Un_cv (fun _ => r) r.
Proof. intros e He. exists 0%nat. intros t _. rewrite (proj2 (R_dist_refl r r) eq_refl). exact He. Qed.

Lemma surely_cv ends h x M : (x < n)%nat -> surely ends pi h x -> Un_cv (fun t => M * alive ends pi t h x) 0.
Proof.
  intros Hx Su. rewrite <- (Rmult_0_r M). apply CV_mult; [apply constant_cv|]. intros e He.
  destruct (Su e He) as (T & HT). exists T. intros t L%HT. pose proof (alive_range ends t h x Hx). apply Rabs_def1; lra.
Qed.

(* A field that falls in the mean with every move, by a fixed amount: the walk stops. *)
Lemma drop_surely (stops : nat -> bool) (inside : nat -> Prop) (Z : nat -> R) eta : 0 < eta ->
  (forall h x q m, (x < n)%nat -> inside x -> stops x = false -> In (q, m) (pi h x) ->
    match m with
    | Stay => False
    | GiveUp => True
    | Take k => (forall o, In o k -> inside (next o)) /\ mean k (fun o => Z (next o)) <= Z x - eta
    end) ->
  forall h x, (x < n)%nat -> inside x -> surely stops pi h x.
Proof.
  intros He Drop h x Hx Ix. destruct (bound_of n Z) as (M & HM).
  assert (Main : forall t h x, (x < n)%nat -> inside x -> eta * INR t * alive stops pi t h x <= Z x + M).
  { clear h x Hx Ix. induction t as [|t IH]; intros h x Hx Ix; pose proof (HM x Hx); [simpl; lra|].
    destruct (stops x) eqn:En; [unfold alive; simpl; rewrite En; lra|].
    unfold alive. cbn [value]. rewrite En, <- dsum_scal. apply moves_most; [assumption|]. intros q m Hm Al.
    pose proof (Drop h x q m Hx Ix En Hm) as D. destruct m as [| |k]; [easy | lra|]. simpl in Al. destruct D as [Fi D].
    pose proof (choices_proper x k Al) as Pr.
    apply Rle_trans with (mean k (fun o => Z (next o) + (M + eta))); [|rewrite wsum_plus, mean_const by assumption; lra].
    rewrite <- wsum_scal. apply mean_le; auto. intros o Ho. pose proof (choices_inside x k o Hx Al Ho) as Hn.
    specialize (IH ((x, k, o) :: h) (next o) Hn (Fi o Ho)). pose proof (alive_range stops t ((x, k, o) :: h) (next o) Hn) as [_ R1].
    unfold alive in *. rewrite S_INR. apply (Rmult_le_compat_l eta) in R1; lra. }
  intros eps Hp. pose proof (Rmult_lt_0_compat _ _ He Hp) as P. destruct (archimed ((M + M) / (eta * eps))) as [Up _].
  exists (Z.to_nat (up ((M + M) / (eta * eps)))). intros t Ht. apply Rnot_le_lt. intros N.
  assert (Lt : (M + M) / (eta * eps) < INR t) by (rewrite INR_IZR_INZ; apply (Rlt_le_trans _ _ _ Up), IZR_le; lia).
  apply (Rmult_lt_compat_r _ _ _ P) in Lt. unfold Rdiv in Lt. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in Lt by lra.
  pose proof (Rmult_le_compat_l (eta * INR t) _ _ ltac:(pose proof (pos_INR t); nra) N).
  specialize (Main t h x Hx Ix). specialize (HM x Hx). lra.
Qed.

(* what was paid, with the least that ending may cost where the walk goes on, grows *)
Lemma value_grows ends e gu op : (forall x, (x < n)%nat -> op <= e x) -> op <= gu ->
  forall h x, (x < n)%nat -> Un_growing (fun t => value ends 1 e gu op pi t h x).
Proof.
  intros He Hg h x Hx t. revert h x Hx. induction t as [|t IH]; intros h x Hx.
  - simpl. destruct (ends x); [lra|]. apply moves_ge; [assumption|]. intros q [| |k] _ Al; try lra. simpl in Al.
    apply mean_ge; [eauto|]. intros o Ho. destruct (proj2 (choices_proper x k Al) o Ho).
    specialize (He (next o) (choices_inside x k o Hx Al Ho)). destruct (ends (next o)); lra.
  - remember (S t) as t'. simpl. rewrite Heqt' at 1. simpl. destruct (ends x); [lra|].
    apply moves_le; [assumption|]. intros q [| |k] _ Al; try lra. simpl in Al.
    apply mean_le; [eauto|]. intros o Ho. apply Rplus_le_compat_l. subst t'. apply IH. eauto.
Qed.
End Walks.
Arguments allowed choices quits x m : clear implicits.
Arguments legal n choices quits pi : clear implicits.
