(* Processes whose moves may fail: choices and outcomes, policies, and expectations after t moves. *)
From Wayfield Require Import Lists.
Open Scope R_scope.

Record outcome := Outcome { count : R; cost : R; next : nat }.
Definition choice := list outcome.

(* sum w f over the outcomes of a choice *)
Definition wsum (k : choice) (f : outcome -> R) := rsum (fun o => count o * f o) k.
(* what the checker computes at a choice of x: C = sum w c, and R(f) = sum w (f(y) - f(x)) *)
Definition C (k : choice) := wsum k cost.
Definition Rise (k : choice) (f : nat -> R) (x : nat) := wsum k (fun o => f (next o) - f x).
Definition proper (k : choice) := k <> [] /\ forall o, In o k -> 0 < count o /\ 0 <= cost o.

(* ---------- means over the outcomes *)
Definition size k := wsum k (fun _ => 1).
Definition mean k f := wsum k f / size k.

Lemma wsum_plus k f g : wsum k (fun o => f o + g o) = wsum k f + wsum k g.
Proof. unfold wsum, rsum. induction k as [|o k IH]; simpl; lra. Qed.
Lemma wsum_scal k r f : wsum k (fun o => r * f o) = r * wsum k f.
Proof. unfold wsum, rsum. induction k as [|o k IH]; simpl; lra. Qed.
Lemma wsum_ext k f g : (forall o, In o k -> f o = g o) -> wsum k f = wsum k g.
Proof. unfold wsum, rsum. induction k as [|o k IH]; simpl; intros H; [reflexivity|]. rewrite (H o), IH; auto. Qed.

Lemma size_pos k : proper k -> 0 < size k.
Proof.
  intros [N P]. destruct k as [|o k]; [congruence|]. destruct (P o (or_introl eq_refl)).
  destruct (sum_part (fun o => count o * 1) (o :: k)) as [_ S]; [intros b Hb; destruct (P b Hb); lra|].
  specialize (S o (or_introl eq_refl)). unfold size, wsum. lra.
Qed.

Lemma mean_le k f g : proper k -> (forall o, In o k -> f o <= g o) -> mean k f <= mean k g.
Proof.
  intros Pr H. apply div_le; [now apply size_pos|]. apply rsum_le. intros o Ho.
  apply Rmult_le_compat_l; [left; now apply Pr | now apply H].
Qed.

Lemma mean_plus k f g : mean k (fun o => f o + g o) = mean k f + mean k g.
Proof. unfold mean. rewrite wsum_plus. unfold Rdiv. lra. Qed.
Lemma mean_scal k r f : mean k (fun o => r * f o) = r * mean k f.
Proof. unfold mean. rewrite wsum_scal. unfold Rdiv. lra. Qed.
Lemma mean_ext k f g : (forall o, In o k -> f o = g o) -> mean k f = mean k g.
Proof. intros H. unfold mean. now rewrite (wsum_ext k f g H). Qed.

Lemma mean_const k r : proper k -> mean k (fun _ => r) = r.
Proof.
  intros Pr. pose proof (size_pos k Pr). rewrite (mean_ext k _ (fun _ => r * 1)) by (intros; lra).
  rewrite mean_scal. unfold mean. fold (size k). field. lra.
Qed.

Lemma mean_ge k f r : proper k -> (forall o, In o k -> r <= f o) -> r <= mean k f.
Proof. intros Pr H. rewrite <- (mean_const k r Pr). now apply mean_le. Qed.
Lemma mean_most k f r : proper k -> (forall o, In o k -> f o <= r) -> mean k f <= r.
Proof. intros Pr H. rewrite <- (mean_const k r Pr). now apply mean_le. Qed.
Lemma share_pos k o : proper k -> In o k -> 0 < count o / size k.
Proof. intros Pr Ho. apply Rdiv_lt_0_compat; [now apply Pr | now apply size_pos]. Qed.

(* of numbers that are not negative the mean is at least the share of each *)
Lemma mean_part k f o : proper k -> (forall o, In o k -> 0 <= f o) -> In o k -> count o / size k * f o <= mean k f.
Proof.
  intros Pr H Ho. destruct (sum_part (fun o => count o * f o) k) as [_ Part].
  { intros a Ha. destruct (proj2 Pr a Ha). apply Rmult_le_pos; [lra | auto]. }
  replace (count o / size k * f o) with (count o * f o / size k) by (unfold Rdiv; ring).
  apply div_le; [now apply size_pos | now apply Part].
Qed.

(* a mean of numbers up to b is below b by the share of an outcome times what that is below b *)
Lemma mean_below k f b o : proper k -> (forall o, In o k -> f o <= b) -> In o k -> mean k f <= b - count o / size k * (b - f o).
Proof.
  intros Pr H Ho. pose proof (mean_part k (fun o => b + -1 * f o) o Pr ltac:(intros a Ha; specialize (H a Ha); lra) Ho) as P.
  rewrite mean_plus, mean_const, mean_scal in P by assumption. lra.
Qed.

(* the checker's comparisons in terms of means *)
Lemma in_means k f x : proper k -> 0 < size k /\ C k = size k * mean k cost /\
  Rise k f x = size k * (mean k (fun o => f (next o)) - f x).
Proof.
  intros Pr. pose proof (size_pos k Pr). split; [assumption|]. unfold C, Rise, mean. split; [field; lra|].
  rewrite (wsum_ext k _ (fun o => f (next o) + - f x * 1)), wsum_plus, wsum_scal by (intros; lra).
  fold (size k). field. lra.
Qed.

Lemma rise k f x : proper k -> (0 <= Rise k f x -> f x <= mean k (fun o => f (next o))) /\
  (Rise k f x <= 0 -> mean k (fun o => f (next o)) <= f x).
Proof. intros Pr. destruct (in_means k f x Pr) as (S & _ & ->). split; nra. Qed.

Lemma drift k f x : proper k -> (0 <= C k + Rise k f x -> f x <= mean k (fun o => cost o + f (next o))) /\
  (C k + Rise k f x <= 0 -> mean k (fun o => cost o + f (next o)) <= f x).
Proof. intros Pr. destruct (in_means k f x Pr) as (S & -> & ->). rewrite mean_plus. split; nra. Qed.

(* finitely many states: a bound, and one number that is small enough for all *)
Lemma bound_of (n : nat) (f : nat -> R) : exists M, 0 <= M /\ forall x, (x < n)%nat -> f x <= M.
Proof.
  destruct (sum_part (fun x => Rabs (f x)) (seq 0 n)) as [S P]; [intros; apply Rabs_pos|]. eexists. split; [exact S|].
  intros x Hx. eapply Rle_trans; [apply Rle_abs | apply (P x), in_seq; lia].
Qed.

Lemma uniform {A} (Q : A -> R -> Prop) l : (forall a, In a l -> exists e, 0 < e /\ forall e', 0 < e' <= e -> Q a e') ->
  exists e, 0 < e /\ forall a, In a l -> forall e', 0 < e' <= e -> Q a e'.
Proof.
  induction l as [|a l IH]; intros H; [exists 1; split; [lra | easy]|].
  destruct IH as (e & He & B); [intros; apply H; now right|]. destruct (H a (or_introl eq_refl)) as (d & Hd & C).
  exists (Rmin e d). split; [now apply Rmin_glb_lt|]. pose proof (Rmin_l e d). pose proof (Rmin_r e d).
  intros b [<-|Hb] e' He'; [apply C | apply B]; auto; lra.
Qed.

(* ---------- policies may depend on the past, and may be random *)
Inductive move := Stay | GiveUp | Take (k : choice).
Definition past := list (nat * choice * outcome).
Definition policy := past -> nat -> list (R * move).

Definition dsum (d : list (R * move)) (f : move -> R) := rsum (fun qm => fst qm * f (snd qm)) d.

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
Variable n : nat.                          (* states are 0 .. n-1 *)
Variable choices : nat -> choice -> Prop.
Variable quits : nat -> bool.              (* where giving up is allowed *)
Hypothesis choices_proper : forall x k, choices x k -> proper k.
Hypothesis choices_inside : forall x k o, (x < n)%nat -> choices x k -> In o k -> (next o < n)%nat.

Definition allowed x (m : move) :=
  match m with Stay => True | GiveUp => quits x = true | Take k => choices x k end.
Definition legal (pi : policy) := forall h x, (x < n)%nat ->
  dsum (pi h x) (fun _ => 1) = 1 /\ forall q m, In (q, m) (pi h x) -> 0 < q /\ allowed x m.

Variable pi : policy.
Hypothesis Le : legal pi.


Lemma dsum_plus d f g : dsum d (fun m => f m + g m) = dsum d f + dsum d g.
Proof. unfold dsum, rsum. induction d as [|o k IH]; simpl; lra. Qed.
Lemma dsum_scal d r f : dsum d (fun m => r * f m) = r * dsum d f.
Proof. unfold dsum, rsum. induction d as [|o k IH]; simpl; lra. Qed.
Lemma dsum_ext d f g : (forall m, f m = g m) -> dsum d f = dsum d g.
Proof. intros H. unfold dsum, rsum. f_equal. apply map_ext. intros [q m]. simpl. now rewrite H. Qed.
Lemma dsum_const h x r : (x < n)%nat -> dsum (pi h x) (fun _ => r) = r.
Proof. intros Hx. rewrite (dsum_ext _ _ (fun _ => r * 1)) by (intros; lra). rewrite dsum_scal. destruct (Le h x Hx) as [-> _]. lra. Qed.
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
  rewrite <- dsum_scal, <- dsum_plus. apply dsum_ext. intros [| |k]; auto.
  rewrite <- mean_scal, <- mean_plus. apply mean_ext. intros o _. rewrite <- IH. lra.
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
Lemma arrive_range ends t h x : (x < n)%nat -> 0 <= arrive ends pi t h x <= 1.
Proof. apply value_range; intros; lra. Qed.

(* a policy that surely ends does so from wherever it may lead *)
Lemma surely_next ends h x q k o : (x < n)%nat -> ends x = false ->
  In (q, Take k) (pi h x) -> In o k -> surely ends pi h x -> surely ends pi ((x, k, o) :: h) (next o).
Proof.
  intros Hx En Hq Ho Su eps He. destruct (Le h x Hx) as [_ A]. destruct (A q (Take k) Hq) as [Pq Al]. simpl in Al.
  pose proof (choices_proper x k Al) as Pr. pose proof (share_pos k o Pr Ho) as Ps.
  destruct (Su (q * (count o / size k * eps))) as (T & HT); [apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; assumption|].
  exists T. intros t Ht. specialize (HT (S t) (le_S _ _ Ht)). unfold alive in *. simpl in HT. rewrite En in HT.
  set (a := fun k o => value ends 0 (fun _ => 0) 0 1 pi t ((x, k, o) :: h) (next o)) in *.
  set (F := fun m => match m with Stay => 1 | GiveUp => 0 | Take k => mean k (fun o => 0 * cost o + a k o) end).
  assert (a0 : forall k o, choices x k -> In o k -> 0 <= a k o) by (intros; apply alive_range; eauto).
  assert (D : q * F (Take k) <= dsum (pi h x) F).
  { apply (sum_part (fun qm => fst qm * F (snd qm)) (pi h x)) with (a := (q, Take k)); [|assumption].
    intros [q' m] Hm. destruct (A q' m Hm) as [Q Am]. apply Rmult_le_pos; simpl; [lra|].
    destruct m as [| |k']; simpl; try lra. apply mean_ge; [eauto|].
    intros o' Ho'. specialize (a0 k' o' Am Ho'). lra. }
  assert (M : count o / size k * a k o <= F (Take k)).
  { simpl. rewrite (mean_ext k _ (a k)) by (intros; lra). apply mean_part; eauto. }
  fold (a k o). change (dsum (pi h x) F < q * (count o / size k * eps)) in HT.
  apply (Rmult_lt_reg_l (count o / size k)); [assumption|]. nra.
Qed.

Lemma surely_small ends h x M eps : (x < n)%nat -> surely ends pi h x -> 0 <= M -> 0 < eps ->
  exists T, forall t, (T <= t)%nat -> 0 <= M * alive ends pi t h x < eps.
Proof.
  intros Hx Su M0 He. destruct (Su (eps / (M + 1))) as (T & HT); [apply Rdiv_lt_0_compat; lra|].
  exists T. intros t Ht. specialize (HT t Ht). pose proof (alive_range ends t h x Hx) as A.
  apply (Rmult_lt_compat_l (M + 1)) in HT; [|lra]. replace ((M + 1) * (eps / (M + 1))) with eps in HT by (field; lra). nra.
Qed.

Lemma vanishing (a : nat -> R) M eta : 0 < eta -> (forall t, eta * INR t * a t <= M) ->
  forall eps, 0 < eps -> exists T, forall t, (T <= t)%nat -> a t < eps.
Proof.
  intros He H eps Hp. assert (P : 0 < eta * eps) by now apply Rmult_lt_0_compat. destruct (archimed (M / (eta * eps))) as [Up _].
  exists (Z.to_nat (up (M / (eta * eps)))). intros t Ht. apply Rnot_le_lt. intros N. specialize (H t).
  assert (Lt : M / (eta * eps) < INR t) by (rewrite INR_IZR_INZ; eapply Rlt_le_trans; [exact Up | apply IZR_le; lia]).
  apply (Rmult_lt_compat_r (eta * eps)) in Lt; [|assumption]. replace (M / (eta * eps) * (eta * eps)) with M in Lt by (field; lra).
  pose proof (Rmult_le_compat_l _ _ _ (Rmult_le_pos _ _ (Rlt_le _ _ He) (pos_INR t)) N). lra.
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
  intros He Drop h x Hx Ix. destruct (bound_of n Z) as (M & _ & HM). destruct (bound_of n (fun x => - Z x)) as (N & _ & HN).
  assert (Main : forall t h x, (x < n)%nat -> inside x -> eta * INR t * alive stops pi t h x <= Z x + N).
  { clear h x Hx Ix. induction t as [|t IH]; intros h x Hx Ix; pose proof (HN x Hx) as B; simpl in B; [simpl; lra|].
    destruct (stops x) eqn:En; [unfold alive; simpl; rewrite En; lra|].
    unfold alive. cbn [value]. rewrite En, <- dsum_scal. apply moves_most; [assumption|]. intros q m Hm Al.
    pose proof (Drop h x q m Hx Ix En Hm) as D. destruct m as [| |k]; [easy | lra|]. simpl in Al. destruct D as [Fi D].
    pose proof (choices_proper x k Al) as Pr.
    apply Rle_trans with (mean k (fun o => Z (next o) + (N + eta))); [|rewrite mean_plus, mean_const by assumption; lra].
    rewrite <- mean_scal. apply mean_le; auto. intros o Ho. pose proof (choices_inside x k o Hx Al Ho) as Hn.
    specialize (IH ((x, k, o) :: h) (next o) Hn (Fi o Ho)). pose proof (alive_range stops t ((x, k, o) :: h) (next o) Hn) as [_ R1].
    unfold alive in *. rewrite S_INR. apply (Rmult_le_compat_l eta) in R1; lra. }
  unfold surely. apply (vanishing (fun t => alive stops pi t h x) (M + N) eta); [assumption|].
  intros t. specialize (Main t h x Hx Ix). specialize (HM x Hx). lra.
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
