(* Expected costs: Theorem I (infinite cost), L (lower bounds) and U (upper bounds, sure ending).
   A policy may depend on the past and may be random. Of a given plan `choices` are its own, and it
   `quits` where it gives up. *)
From Coq Require Import FunctionalExtensionality.
From Wayfield Require Import Lists Process.
Open Scope R_scope.

Section Costs.
Variable n : nat.
Variable choices : nat -> choice -> Prop.
Variable ends : nat -> bool.               (* the states of F *)
Variable Y : nat -> R.                     (* their values *)
Variable price : R.                        (* of giving up *)
Variable quits : nat -> bool.              (* where that is allowed *)
Hypothesis choices_proper : forall x k, choices x k -> proper k.
Hypothesis choices_inside : forall x k o, (x < n)%nat -> choices x k -> In o k -> (next o < n)%nat.
Variable infinite : nat -> bool.
Variable layer : nat -> nat.

(* what the checker asks of an infinite state *)
Definition hopeless := forall x, (x < n)%nat -> infinite x = true -> ends x = false /\ quits x = false /\
  forall k, choices x k ->
    (exists o, In o k /\ infinite (next o) = true /\ (layer (next o) < layer x)%nat) \/
    (forall o, In o k -> infinite (next o) = true /\ layer (next o) = layer x).

(* and of the lower barrier: C + R(l) >= 0 at every choice that does not lead to an infinite state *)
Definition sub_cost (l : nat -> R) := forall x, (x < n)%nat -> infinite x = false -> (ends x = true -> l x <= Y x) /\
  (ends x = false -> (quits x = true -> l x <= price) /\
    forall k, choices x k -> (forall o, In o k -> infinite (next o) = false) -> 0 <= C k + Rise k l x).

Section Any.
Variable pi : policy.
Hypothesis Le : legal n choices quits pi.

(** No policy ends surely from an infinite state, if each of its choices has an outcome in a lower
    layer of infinite states, or all its outcomes in the state's own layer. *)
Theorem theorem_I : hopeless -> forall h x, (x < n)%nat -> infinite x = true -> ~ surely ends pi h x.
Proof.
  intros Ho h x Hx Ix. remember (layer x) as l eqn:Lx. symmetry in Lx. revert h x Hx Ix Lx.
  induction l as [l IHl] using lt_wf_ind. intros h x Hx Ix Lx Su. assert (One : forall t, 1 <= alive ends pi t h x).
  { intros t. apply (value_ge choices_proper Le ends (fun h x => (x < n)%nat /\ infinite x = true /\
      layer x = l /\ surely ends pi h x) (fun _ => 1)); auto.
    - intros h' y (Hy & Iy & _). destruct (Ho y Hy Iy) as [E _]. repeat split; [assumption | lra | congruence].
    - intros h' y q m (Hy & Iy & Ly & Sy) En Hm Al. destruct (Ho y Hy Iy) as (_ & Nq & Ch).
      destruct m as [| |k]; simpl in Al; [trivial | congruence |].
      pose proof (fun o => surely_next choices_proper choices_inside Le ends h' y q k o Hy En Hm Sy) as Nx.
      destruct (Ch k Al) as [(o & Hin & Io & Lo)|Same].
      + exfalso. destruct (Nx o Hin). apply (IHl (layer (next o)) ltac:(lia) ((y, k, o) :: h') (next o)); auto.
      + split; [|apply mean_ge; [eauto | intros; lra]]. intros o Hin. destruct (Same o Hin), (Nx o Hin). repeat split; auto; congruence. }
  destruct (Su 1) as (T & HT); [lra|]. specialize (HT T (le_n _)). specialize (One T). lra.
Qed.

(** A policy that ends surely costs at least l in the limit, if l is a lower barrier. *)
Theorem theorem_L l : hopeless -> sub_cost l -> forall h x, (x < n)%nat -> costs_at_least ends Y price pi h x (l x).
Proof.
  intros Ho Sub h x Hx s Su Cv. destruct (bound_of n l) as (M & HM). rewrite <- (Rplus_0_r s).
  apply (@Rle_cv_lim (fun _ => l x) (fun t => paid ends Y price pi t h x + M * alive ends pi t h x));
    [|apply constant_cv | apply CV_plus; [exact Cv | now apply (surely_cv choices_proper choices_inside Le)]].
  intros t. unfold paid, alive. rewrite value_linear, Rmult_0_r, !Rplus_0_r. clear s Cv.
  assert (Fin : forall h x, (x < n)%nat -> surely ends pi h x -> infinite x = false).
  { intros h' y Hy Sy. destruct (infinite y) eqn:Iy; [|reflexivity]. now destruct (theorem_I Ho h' y Hy Iy). }
  apply (value_ge choices_proper Le ends (fun h x => (x < n)%nat /\ surely ends pi h x) l); [| |auto].
  - intros h' y (Hy & Sy). destruct (Sub y Hy (Fin h' y Hy Sy)) as [E _]. specialize (HM y Hy).
    repeat split; [assumption | lra | intros En; specialize (E En); lra].
  - intros h' y q m (Hy & Sy) En Hm Al. destruct (Sub y Hy (Fin h' y Hy Sy)) as [_ Q]. destruct (Q En) as [Q1 Q2].
    destruct m as [| |k]; simpl in Al; [trivial | specialize (Q1 Al); lra|].
    pose proof (fun o => surely_next choices_proper choices_inside Le ends h' y q k o Hy En Hm Sy) as Nx.
    split; [exact Nx|]. apply drift; [eauto|]. rewrite Rmult_1_l. apply Q2; [assumption|]. intros o [Ho' So]%Nx. eauto.
Qed.

(* ---------- Theorem U *)
(* the upper barrier, for a policy that is anywhere inside: it moves or gives up *)
Definition high_cost (u : nat -> R) :=
  (forall x, (x < n)%nat -> infinite x = false -> ends x = true -> Y x <= u x) /\
  forall h x q m, (x < n)%nat -> infinite x = false -> ends x = false -> In (q, m) (pi h x) ->
    match m with
    | Stay => False
    | GiveUp => price <= u x
    | Take k => (forall o, In o k -> infinite (next o) = false) /\ C k + Rise k u x <= 0
    end.

(* a policy with an upper barrier pays at most that, and ends surely, if a field W falls with each of its moves *)
Lemma pays_at_most u W eta : high_cost u -> 0 < eta ->
  (forall h x q k, (x < n)%nat -> infinite x = false -> ends x = false -> In (q, Take k) (pi h x) ->
    mean k (fun o => W (next o)) <= W x - eta) ->
  forall h x, (x < n)%nat -> infinite x = false -> costs_at_most ends Y price pi h x (u x).
Proof.
  intros [End Drift] He Fall h x Hx Ix. assert (Sure : surely ends pi h x).
  { apply (drop_surely choices_proper choices_inside Le ends (fun x => infinite x = false) W eta); auto.
    intros h' y q [| |k] Hy Iy En Hm; specialize (Drift h' y q _ Hy Iy En Hm); auto. split; [apply Drift | eauto]. }
  split; [exact Sure|].
  destruct (bound_of n Y) as (M1 & B1), (bound_of n u) as (M2 & B2). pose proof (B1 x Hx). pose proof (B2 x Hx).
  set (M := M1 + M2 + Rabs price). pose proof (Rabs_between price _ (Rle_refl _)).
  set (a := fun t => paid ends Y price pi t h x + - M * alive ends pi t h x).
  assert (E : forall t, a t = value ends 1 Y price (- M) pi t h x).
  { intros t. unfold a, paid, alive. rewrite value_linear. f_equal; try (extensionality y); lra. }
  assert (Gr : Un_growing a).
  { intros t. rewrite !E. apply (value_grows choices_proper choices_inside Le ends); auto;
      unfold M; [intros y Hy; specialize (B1 y Hy) |]; lra. }
  assert (Up : forall t, a t <= u x).
  { intros t. rewrite E. apply (value_le choices_proper Le ends (fun _ x => (x < n)%nat /\ infinite x = false) u); [| |auto].
    - intros _ y (Hy & Iy). specialize (B2 y Hy). repeat split; [assumption | unfold M; lra | auto].
    - intros h' y q m (Hy & Iy) En Hm Al. specialize (Drift h' y q m Hy Iy En Hm). destruct m as [| |k]; auto.
      destruct Drift as [Fi Dr]. split; [intros o Ho; split; eauto|]. apply drift; [eauto | lra]. }
  destruct (Un_cv_crit _ Gr) as (s & Cv); [exists (u x); intros r (t & ->); apply Up|].
  exists s. split; [|now apply (@Rle_cv_lim a (fun _ => u x)); [| |apply constant_cv]].
  rewrite <- (Rplus_0_r s). apply (Un_cv_ext (fun t => a t + M * alive ends pi t h x)); [intros t; unfold a; lra|].
  apply CV_plus; [exact Cv | now apply (surely_cv choices_proper choices_inside Le)].
Qed.

(* With positive costs every policy all of whose choices have C + R(u) <= 0 ends surely, at a cost
   of at most u: even where the odds of its choices depend on the past. *)
Lemma theorem_U_positive u least : 0 < least -> (forall x k o, choices x k -> In o k -> least <= cost o) ->
  high_cost u -> forall h x, (x < n)%nat -> infinite x = false -> costs_at_most ends Y price pi h x (u x).
Proof.
  intros Lp Lc Hc. apply (pays_at_most u u least); auto. intros h y q k Hy Iy En Hm.
  destruct (proj2 Hc h y q _ Hy Iy En Hm) as [_ Dr]. destruct (proj2 (Le h y Hy) q _ Hm) as [_ Al].
  pose proof (choices_proper y k Al) as Pr.
  destruct (in_means k u y Pr) as (S & EC & ER). assert (least <= mean k cost) by (apply mean_ge; eauto). nra.
Qed.
End Any.

(* A plan takes one choice at each state, gives up or stays. *)
Variable plan : nat -> move.
Variable rank : nat -> nat.
Hypothesis plan_allowed : forall x, (x < n)%nat -> ends x = false -> allowed choices quits x (plan x).
Definition by_plan : policy := fun _ x => if ends x then [(1, Stay)] else [(1, plan x)].

Lemma by_plan_legal : legal n choices quits by_plan.
Proof.
  intros h x Hx. unfold by_plan. destruct (ends x) eqn:En; (split; [unfold dsum, wsum, rsum; simpl; lra|]);
    intros q m [E|[]]; injection E as <- <-; (split; [lra|]); [exact I | now apply plan_allowed].
Qed.

Lemma by_plan_move h x q m : ends x = false -> In (q, m) (by_plan h x) -> plan x = m.
Proof. intros En. unfold by_plan. rewrite En. intros [E|[]]. now injection E. Qed.
Lemma plan_choice x k : (x < n)%nat -> ends x = false -> plan x = Take k -> choices x k.
Proof. intros Hx En Pl. specialize (plan_allowed x Hx En). now rewrite Pl in plan_allowed. Qed.

(* what the checker asks of the upper barrier of a plan *)
Definition super_cost (u : nat -> R) := forall x, (x < n)%nat -> infinite x = false ->
  (ends x = true -> Y x <= u x) /\
  (ends x = false -> match plan x with
    | Stay => False
    | GiveUp => price <= u x
    | Take k => (forall o, In o k -> infinite (next o) = false) /\ C k + Rise k u x <= 0 /\
        (C k = 0 -> exists o, In o k /\ (rank (next o) < rank x)%nat)
    end).

Lemma pow_down lam i j : 0 < lam < 1 -> (i <= j)%nat -> 0 < lam ^ j <= lam ^ i.
Proof. intros H. induction 1; simpl; [split; [now apply pow_lt | lra] | nra]. Qed.

(* by ranks: if a field does not rise in the mean, and an outcome has a lower rank where it does not fall, another field
   falls by a fixed amount at every move of the plan *)
Lemma ranked (stops : nat -> bool) (base : nat -> R) :
  (forall x k, (x < n)%nat -> ends x = false -> plan x = Take k -> stops x = false -> mean k (fun o => base (next o)) <= base x /\
    (mean k (fun o => base (next o)) = base x -> exists o, In o k /\ (rank (next o) < rank x)%nat)) ->
  exists (W : nat -> R) eta, 0 < eta /\ forall x k, (x < n)%nat -> ends x = false -> plan x = Take k -> stops x = false ->
    mean k (fun o => W (next o)) <= W x - eta.
Proof.
  intros H. set (shares := flat_map (fun x => match plan x with Take k => map (share k) k | _ => [] end) (seq 0 n)).
  destruct (least (fun s => s) shares) as (lam & Hl & Sh).
  set (psi := fun x => 1 - lam ^ rank x). assert (Psi : forall x, 0 <= psi x <= 1).
  { intros x. pose proof (pow_down lam 0 (rank x) Hl (Nat.le_0_l _)). unfold psi. simpl in *. lra. }
  set (drop := fun f x => match plan x with Take k => f x - mean k (fun o => f (next o)) | _ => 0 end).
  assert (In_n : forall x, (x < n)%nat -> In x (seq 0 n)) by (intros; apply in_seq; lia).
  destruct (least (drop base) (seq 0 n)) as (e & He & Small). set (W := fun x => base x + e * psi x). exists W.
  destruct (least (drop W) (seq 0 n)) as (eta & Heta & Fall). exists eta. split; [apply Heta|]. intros x k Hx En Pl St.
  specialize (Small x (In_n x Hx)). specialize (Fall x (In_n x Hx)). unfold drop in *. rewrite Pl in *.
  enough (mean k (fun o => W (next o)) < W x) by lra. unfold W. rewrite wsum_plus, wsum_scal.
  pose proof (choices_proper x k (plan_choice x k Hx En Pl)) as Pr. destruct (H x k Hx En Pl St) as [[Lt|Eq] R].
  - pose proof (mean_most k (fun o => psi (next o)) 1 Pr (fun o _ => proj2 (Psi (next o)))). destruct (Psi x). nra.
  - destruct (R Eq) as (o & Ho & Ro). enough (mean k (fun o => psi (next o)) < psi x) by nra.
    pose proof (mean_below k (fun o => psi (next o)) 1 o Pr (fun o _ => proj2 (Psi (next o))) Ho) as B.
    assert (Sh' : lam < share k o).
    { apply Sh; [|now apply share_pos]. apply in_flat_map. exists x. rewrite Pl. auto using in_map. }
    pose proof (pow_down lam (S (rank (next o))) (rank x) Hl Ro) as [_ D].
    destruct (pow_down lam _ _ Hl (le_n (rank (next o)))) as [P _]. simpl in D. unfold psi in *. nra.
Qed.

(* of an upper barrier: it does not rise, and is the same only where nothing is paid *)
Lemma upper_falls u x k : super_cost u -> (x < n)%nat -> infinite x = false -> ends x = false -> plan x = Take k ->
  mean k (fun o => u (next o)) <= u x /\
  (mean k (fun o => u (next o)) = u x -> exists o, In o k /\ (rank (next o) < rank x)%nat).
Proof.
  intros Su Hx Ix En Pl. pose proof (choices_proper x k (plan_choice x k Hx En Pl)) as Pr.
  destruct (Su x Hx Ix) as [_ S2]. specialize (S2 En). rewrite Pl in S2. destruct S2 as (_ & Dr & Fr).
  assert (C0 : 0 <= mean k cost) by (apply mean_ge; [assumption|]; intros; now apply Pr).
  destruct (in_means k u x Pr) as (S & EC & ER). split; [nra|]. intros E. apply Fr. nra.
Qed.

(** The plan ends surely, at an expected cost of at most u, if u is an upper barrier and every free
    choice of the plan has an outcome of lower rank. *)
Theorem theorem_U u : super_cost u -> forall h x, (x < n)%nat -> infinite x = false ->
  costs_at_most ends Y price by_plan h x (u x).
Proof.
  intros Su. destruct (ranked infinite u) as (W & eta & He & Fall); [intros; now apply upper_falls|].
  apply (pays_at_most by_plan by_plan_legal u W eta); [|exact He|].
  - split; [intros y Hy Iy; now apply Su|]. intros h y q m Hy Iy En Hm. apply by_plan_move in Hm; [|assumption].
    destruct (Su y Hy Iy) as [_ S]. specialize (S En). rewrite Hm in S. destruct m as [| |k]; auto. split; apply S.
  - intros h y q k Hy Iy En Hm%by_plan_move; auto.
Qed.
End Costs.
