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
  intros Ho. assert (Main : forall l h x, (x < n)%nat -> infinite x = true -> layer x = l -> ~ surely ends pi h x).
  2:{ intros h x Hx Ix. now apply (Main (layer x)). }
  induction l as [l IHl] using lt_wf_ind. intros h x Hx Ix Lx Su. assert (One : forall t, 1 <= alive ends pi t h x).
  { intros t. apply (value_ge n choices quits choices_proper pi Le ends (fun h x => (x < n)%nat /\ infinite x = true /\
      layer x = l /\ surely ends pi h x) (fun _ => 1)); auto.
    - intros h' y (Hy & Iy & _). destruct (Ho y Hy Iy) as [E _]. repeat split; [assumption | lra | congruence].
    - intros h' y q m (Hy & Iy & Ly & Sy) En Hm Al. destruct (Ho y Hy Iy) as (_ & Nq & Ch).
      destruct m as [| |k]; simpl in Al; [trivial | congruence |].
      assert (Nx : forall o, In o k -> (next o < n)%nat /\ surely ends pi ((y, k, o) :: h') (next o)).
      { intros o Hin. split; [eauto|]. now apply (surely_next n choices quits choices_proper choices_inside pi Le ends h' y q). }
      destruct (Ch k Al) as [(o & Hin & Io & Lo)|Same].
      + exfalso. destruct (Nx o Hin). apply (IHl (layer (next o)) ltac:(lia) ((y, k, o) :: h') (next o)); auto.
      + split; [|apply mean_ge; [eauto | intros; lra]]. intros o Hin. destruct (Same o Hin), (Nx o Hin). repeat split; auto; congruence. }
  destruct (Su 1) as (T & HT); [lra|]. specialize (HT T (le_n _)). specialize (One T). lra.
Qed.

Lemma L_finite l M : hopeless -> sub_cost l -> (forall x, (x < n)%nat -> l x <= M) ->
  forall t h x, (x < n)%nat -> surely ends pi h x -> l x <= paid ends Y price pi t h x + M * alive ends pi t h x.
Proof.
  intros Ho Sub HM t h x Hx Su. unfold paid, alive. rewrite value_linear.
  assert (Fin : forall h x, (x < n)%nat -> surely ends pi h x -> infinite x = false).
  { intros h' y Hy Sy. destruct (infinite y) eqn:Iy; [|reflexivity]. now destruct (theorem_I Ho h' y Hy Iy). }
  apply (value_ge n choices quits choices_proper pi Le ends (fun h x => (x < n)%nat /\ surely ends pi h x) l); [| |auto].
  - intros h' y (Hy & Sy). destruct (Sub y Hy (Fin h' y Hy Sy)) as [E _]. specialize (HM y Hy).
    repeat split; [assumption | lra | intros En; specialize (E En); lra].
  - intros h' y q m (Hy & Sy) En Hm Al. destruct (Sub y Hy (Fin h' y Hy Sy)) as [_ Q]. destruct (Q En) as [Q1 Q2].
    destruct m as [| |k]; simpl in Al; [trivial | specialize (Q1 Al); lra|].
    assert (Nx : forall o, In o k -> (next o < n)%nat /\ surely ends pi ((y, k, o) :: h') (next o)).
    { intros o Hin. split; [eauto|]. now apply (surely_next n choices quits choices_proper choices_inside pi Le ends h' y q). }
    split; [exact Nx|]. rewrite (mean_ext k _ (fun o => cost o + l (next o))) by (intros; lra).
    apply drift; [eauto|]. apply Q2; [assumption|]. intros o Hin. destruct (Nx o Hin). eauto.
Qed.

(** A policy that ends surely costs at least l in the limit, if l is a lower barrier. *)
Theorem theorem_L l : hopeless -> sub_cost l -> forall h x, (x < n)%nat -> costs_at_least ends Y price pi h x (l x).
Proof.
  intros Ho Sub h x Hx s Su Cv. destruct (bound_of n l) as (M & M0 & HM).
  apply Rnot_lt_le. intros N. destruct (Cv ((l x - s) / 2)) as (T & HT); [lra|].
  destruct (surely_small n choices quits choices_proper choices_inside pi Le ends h x M ((l x - s) / 2)) as (T' & HT'); auto; [lra|].
  specialize (HT (max T T') ltac:(lia)). specialize (HT' (max T T') ltac:(lia)). apply Rabs_def2 in HT.
  pose proof (L_finite l M Ho Sub HM (max T T') h x Hx Su). lra.
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

(* a policy with an upper barrier that ends surely pays at most that *)
Lemma pays_at_most u : high_cost u -> forall h x, (x < n)%nat -> infinite x = false -> surely ends pi h x ->
  exists s, Un_cv (fun t => paid ends Y price pi t h x) s /\ s <= u x.
Proof.
  intros [End Drift] h x Hx Ix Sure.
  destruct (bound_of n (fun x => - Y x)) as (M1 & P1 & B1). destruct (bound_of n (fun x => - u x)) as (M2 & P2 & B2).
  set (M := M1 + M2 + Rabs price). pose proof (Rabs_pos price). pose proof (Rle_abs (- price)) as Pp. rewrite Rabs_Ropp in Pp.
  set (a := fun t => paid ends Y price pi t h x + - M * alive ends pi t h x).
  assert (E : forall t, a t = value ends 1 Y price (- M) pi t h x).
  { intros t. unfold a, paid, alive. rewrite value_linear. f_equal; try (extensionality y); lra. }
  assert (Gr : Un_growing a).
  { intros t. rewrite !E. apply (value_grows n choices quits choices_proper choices_inside pi Le ends); auto.
    - intros y Hy. specialize (B1 y Hy). unfold M. simpl in B1. lra.
    - unfold M. lra. }
  assert (Up : forall t, a t <= u x).
  { intros t. rewrite E. apply (value_le n choices quits choices_proper pi Le ends (fun _ x => (x < n)%nat /\ infinite x = false) u); [| |auto].
    - intros _ y (Hy & Iy). specialize (B2 y Hy). simpl in B2. repeat split; [assumption | unfold M; lra | auto].
    - intros h' y q m (Hy & Iy) En Hm Al. specialize (Drift h' y q m Hy Iy En Hm). destruct m as [| |k]; auto.
      destruct Drift as [Fi Dr]. simpl in Al. split; [intros o Ho; split; eauto|].
      rewrite (mean_ext k _ (fun o => cost o + u (next o))) by (intros; lra). apply drift; eauto. }
  destruct (Un_cv_crit _ Gr) as (s & Cv); [exists (u x); intros r (t & ->); apply Up|].
  assert (M0 : 0 <= M) by (unfold M; lra). exists s. split.
  - intros e He. destruct (Cv (e / 2)) as (T & HT); [lra|].
    destruct (surely_small n choices quits choices_proper choices_inside pi Le ends h x M (e / 2)) as (T' & HT'); auto; [lra|].
    exists (max T T'). intros t Ht. specialize (HT t ltac:(lia)). specialize (HT' t ltac:(lia)).
    unfold a in HT. apply Rabs_def2 in HT. apply Rabs_def1; lra.
  - apply Rnot_lt_le. intros N. destruct (Cv (s - u x)) as (T & HT); [lra|]. specialize (HT T (le_n _)). specialize (Up T).
    apply Rabs_def2 in HT. lra.
Qed.

(* With positive costs every policy all of whose choices have C + R(u) <= 0 ends surely, at a cost
   of at most u: even where the odds of its choices depend on the past. *)
Lemma theorem_U_positive u least : 0 < least -> (forall x k o, choices x k -> In o k -> least <= cost o) ->
  high_cost u -> forall h x, (x < n)%nat -> infinite x = false -> costs_at_most ends Y price pi h x (u x).
Proof.
  intros Lp Lc Hc h x Hx Ix. assert (Sure : surely ends pi h x); [|split; [exact Sure | now apply pays_at_most]].
  apply (drop_surely n choices quits choices_proper choices_inside pi Le ends (fun x => infinite x = false) u least); auto.
  intros h' y q m Hy Iy En Hm. destruct Hc as [_ D]. specialize (D h' y q m Hy Iy En Hm).
  destruct m as [| |k]; auto. destruct D as [Fi Dr]. split; [exact Fi|]. destruct (Le h' y Hy) as [_ A].
  destruct (A q (Take k) Hm) as [_ Al]. simpl in Al. pose proof (choices_proper y k Al) as Pr.
  apply drift in Dr; [|assumption]. rewrite mean_plus in Dr.
  assert (least <= mean k cost) by (apply mean_ge; eauto). lra.
Qed.
End Any.

(* A plan takes one choice at each state, gives up or stays. *)
Variable plan : nat -> move.
Variable rank : nat -> nat.
Hypothesis plan_allowed : forall x, (x < n)%nat -> ends x = false -> allowed choices quits x (plan x).
Definition by_plan : policy := fun _ x => if ends x then [(1, Stay)] else [(1, plan x)].

Lemma by_plan_legal : legal n choices quits by_plan.
Proof.
  intros h x Hx. unfold by_plan. destruct (ends x) eqn:En; (split; [unfold dsum, rsum; simpl; lra|]);
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

Lemma pow_bounds lam m : 0 < lam < 1 -> 0 < lam ^ m <= 1.
Proof. intros H. split; [apply pow_lt; lra|]. rewrite <- (pow1 m). apply pow_incr. lra. Qed.

Lemma pow_down lam i j : 0 < lam < 1 -> (i <= j)%nat -> lam ^ j <= lam ^ i.
Proof.
  intros H Hij. rewrite <- (Nat.sub_add i j Hij), pow_add.
  pose proof (pow_bounds lam (j - i) H). pose proof (pow_bounds lam i H). nra.
Qed.

(* what the plan does at a state, if it moves there, holds of one positive number for all states *)
Lemma everywhere (P : nat -> choice -> R -> Prop) :
  (forall x k, (x < n)%nat -> ends x = false -> plan x = Take k -> exists e, 0 < e /\ forall e', 0 < e' <= e -> P x k e') ->
  exists e, 0 < e /\ forall x k, (x < n)%nat -> ends x = false -> plan x = Take k -> forall e', 0 < e' <= e -> P x k e'.
Proof.
  intros H. destruct (uniform (fun x e => forall k, ends x = false -> plan x = Take k -> P x k e) (seq 0 n)) as (e & He & A).
  - intros x Hx. apply in_seq in Hx. destruct (ends x) eqn:En, (plan x) as [| |k] eqn:Pl; try (now exists 1; split; [lra|]).
    destruct (H x k ltac:(lia) En Pl) as (e & He & A). exists e. split; [assumption|]. intros e' He' k' _ [= <-]. auto.
  - exists e. split; [assumption|]. intros x k Hx En Pl e' He'. apply (A x); auto. apply in_seq. lia.
Qed.

(* a share below that of each outcome *)
Lemma one_share : exists lam, 0 < lam < 1 /\ forall x k o, (x < n)%nat -> ends x = false -> plan x = Take k ->
  In o k -> lam < count o / size k.
Proof.
  destruct (everywhere (fun x k e => forall o, In o k -> e < count o / size k)) as (e & He & A).
  - intros x k Hx En Pl. destruct (uniform (fun o e => e < count o / size k) k) as (e & He & A); [|now exists e; auto].
    intros o Ho. pose proof (share_pos k o (choices_proper x k (plan_choice x k Hx En Pl)) Ho).
    exists (count o / size k / 2). split; [|intros]; lra.
  - exists (Rmin e (1 / 2)). assert (0 < Rmin e (1 / 2) <= e /\ Rmin e (1 / 2) < 1) by (unfold Rmin; destruct (Rle_dec _ _); lra).
    split; [lra|]. intros x k o Hx En Pl Ho. now apply (A x k Hx En Pl).
Qed.

(* by ranks: if a field does not rise in the mean, and an outcome has a lower rank where it does not fall, another field
   falls by a fixed amount at every move of the plan *)
Lemma ranked (stops : nat -> bool) (base : nat -> R) :
  (forall x k, (x < n)%nat -> ends x = false -> plan x = Take k -> stops x = false -> mean k (fun o => base (next o)) <= base x /\
    (mean k (fun o => base (next o)) = base x -> exists o, In o k /\ (rank (next o) < rank x)%nat)) ->
  exists (W : nat -> R) eta, 0 < eta /\ forall x k, (x < n)%nat -> ends x = false -> plan x = Take k -> stops x = false ->
    mean k (fun o => W (next o)) <= W x - eta.
Proof.
  intros H. destruct one_share as (lam & Hl & Sh). set (psi := fun x => 1 - lam ^ rank x).
  assert (Psi : forall x, 0 <= psi x <= 1) by (intros x; unfold psi; pose proof (pow_bounds lam (rank x) Hl); lra).
  destruct (everywhere (fun x k e => stops x = false -> mean k (fun o => base (next o) + e * psi (next o)) < base x + e * psi x)) as (e & He & A).
  { intros x k Hx En Pl. destruct (stops x) eqn:St; [exists 1; split; [lra | easy]|].
    pose proof (choices_proper x k (plan_choice x k Hx En Pl)) as Pr. destruct (H x k Hx En Pl St) as [Le Eq].
    set (gap := base x - mean k (fun o => base (next o))). destruct (Req_EM_T gap 0) as [Z|NZ].
    - exists 1. split; [lra|]. intros e' He' _. rewrite mean_plus, mean_scal. destruct (Eq ltac:(unfold gap in Z; lra)) as (o & Ho & Ro).
      assert (mean k (fun o => psi (next o)) < psi x); [|nra].
      pose proof (mean_below k (fun o => psi (next o)) 1 o Pr (fun o _ => proj2 (Psi (next o))) Ho) as B.
      pose proof (pow_down lam (S (rank (next o))) (rank x) Hl Ro) as Pd. simpl in Pd. pose proof (pow_bounds lam (rank (next o)) Hl).
      pose proof (Rmult_lt_compat_r (lam ^ rank (next o)) _ _ ltac:(lra) (Sh x k o Hx En Pl Ho)).
      unfold psi in *. replace (1 - (1 - lam ^ rank (next o))) with (lam ^ rank (next o)) in B by ring. lra.
    - exists (gap / 2). unfold gap in *. split; [lra|]. intros e' He' _. rewrite mean_plus, mean_scal.
      pose proof (mean_most k (fun o => psi (next o)) 1 Pr (fun o _ => proj2 (Psi (next o)))). destruct (Psi x). nra. }
  set (W := fun x => base x + e * psi x). exists W.
  destruct (everywhere (fun x k eta => stops x = false -> mean k (fun o => W (next o)) <= W x - eta)) as (eta & Heta & B).
  { intros x k Hx En Pl. destruct (stops x) eqn:St; [exists 1; split; [lra | easy]|].
    pose proof (A x k Hx En Pl e ltac:(lra) St : mean k (fun o => W (next o)) < W x).
    exists (W x - mean k (fun o => W (next o))). split; [|intros]; lra. }
  exists eta. split; [assumption|]. intros x k Hx En Pl. apply (B x k Hx En Pl eta). lra.
Qed.

(* of an upper barrier: it does not rise, and is the same only where nothing is paid *)
Lemma upper_falls u x k : super_cost u -> (x < n)%nat -> infinite x = false -> ends x = false -> plan x = Take k ->
  mean k (fun o => u (next o)) <= u x /\
  (mean k (fun o => u (next o)) = u x -> exists o, In o k /\ (rank (next o) < rank x)%nat).
Proof.
  intros Su Hx Ix En Pl. pose proof (choices_proper x k (plan_choice x k Hx En Pl)) as Pr.
  destruct (Su x Hx Ix) as [_ S2]. specialize (S2 En). rewrite Pl in S2. destruct S2 as (_ & Dr & Fr).
  apply drift in Dr; [|assumption]. rewrite mean_plus in Dr.
  assert (C0 : 0 <= mean k cost) by (apply mean_ge; [assumption|]; intros; now apply Pr).
  split; [lra|]. intros E. apply Fr. destruct (in_means k u x Pr) as (_ & -> & _). apply Rmult_eq_0_compat_l. lra.
Qed.

(** The plan ends surely, at an expected cost of at most u, if u is an upper barrier and every free
    choice of the plan has an outcome of lower rank. *)
Theorem theorem_U u : super_cost u -> forall h x, (x < n)%nat -> infinite x = false ->
  costs_at_most ends Y price by_plan h x (u x).
Proof.
  intros Su h x Hx Ix. assert (Hc : high_cost by_plan u).
  { split; [intros y Hy Iy; now apply Su|]. intros h' y q m Hy Iy En Hm. apply by_plan_move in Hm; [|assumption].
    destruct (Su y Hy Iy) as [_ S]. specialize (S En). rewrite Hm in S. destruct m as [| |k]; auto. split; apply S. }
  destruct (ranked infinite u) as (W & eta & He & Fall); [intros; now apply upper_falls|].
  assert (Sure : surely ends by_plan h x); [|split; [exact Sure | now apply pays_at_most; [apply by_plan_legal|..]]].
  apply (drop_surely n choices quits choices_proper choices_inside by_plan by_plan_legal ends (fun x => infinite x = false) W eta); auto.
  intros h' y q m Hy Iy En Hm. pose proof (proj2 Hc h' y q m Hy Iy En Hm) as S. apply by_plan_move in Hm; [|assumption].
  destruct m as [| |k]; auto. split; [apply S | now apply Fall].
Qed.
End Costs.
