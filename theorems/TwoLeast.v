(* Condition 3 of Theorem 3 (`_two_least`): at each unfixed vertex it is enough to know the two
   least values that it leads to, and two of the largest that lead to it. *)
From Wayfield Require Import Lists.
Open Scope bool_scope.
Open Scope Z_scope.

Section Search.
Variable back : nat -> list nat.           (* the tails of the arcs into a vertex *)
Variable fixed : nat -> bool.
Variable value : nat -> Z.

(* the ends that were found for each vertex, the last one first *)
Definition found := nat -> list nat.
Definition put (f : found) y t : found := fun z => if Nat.eqb z y then t :: f y else f z.
(* a third is turned away, and t itself if it has been here *)
Definition turned_away (f : found) t y :=
  fixed y || (2 <=? length (f y))%nat || match f y with s :: _ => Nat.eqb s t | [] => false end.

Fixpoint visit t arcs (f : found) todo :=
  match arcs with
  | [] => (f, todo)
  | y :: rest => if turned_away f t y then visit t rest f todo else visit t rest (put f y t) (y :: todo)
  end.

(* the loop `while todo`, for as many turns as it takes; None: not enough turns were allowed *)
Fixpoint search turns t (f : found) todo :=
  match todo, turns with
  | [], _ => Some f
  | x :: todo, S turns => let (f, todo) := visit t (back x) f todo in search turns t f todo
  | _, O => None
  end.

Fixpoint search_all turns ends (f : found) :=
  match ends with
  | [] => Some f
  | t :: ends => match search turns t f [t] with Some f => search_all turns ends f | None => None end
  end.

Definition two_least turns ends := search_all turns (sort (fun s t => value s <=? value t) ends) (fun _ => []).

(* a walk from x to the fixed t, all of whose inner vertices are not fixed, and x is not *)
Inductive leads : nat -> nat -> Prop :=
| leads_by x t : In x (back t) -> fixed x = false -> fixed t = true -> leads x t
| leads_on x y t : In x (back y) -> fixed x = false -> fixed y = false -> leads y t -> leads x t.

(* t is among those found for x, or there are two others, no larger *)
Definition knows (f : found) x t := In t (f x) \/ (length (f x) = 2%nat /\ forall s, In s (f x) -> value s <= value t).
Definition saw (f : found) x t := In t (f x) \/ length (f x) = 2%nat.
(* While t is searched from, beginning with f0: it is put before what was found for a vertex, once;
   and the tails of arcs into t, or into such a vertex, are turned away, but where that is pending. *)
Record going (t : nat) (f0 : found) (pending : nat -> nat -> Prop) (f : found) : Prop := {
  extends : forall z, f z = f0 z \/ f z = t :: f0 z /\ (length (f0 z) < 2)%nat /\ leads z t;
  closed : forall x y, In x (back y) -> y = t \/ f y = t :: f0 y -> turned_away f t x = true \/ pending x y }.
Definition reached t todo := forall y : nat, In y todo -> y = t \/ fixed y = false /\ leads y t.

Lemma turned_put f t y z : turned_away f t z = true \/ z = y -> turned_away (put f y t) t z = true.
Proof.
  unfold turned_away, put. destruct (Nat.eqb_spec z y) as [->|N]; [|intros [H|H]; easy].
  intros _. now rewrite Nat.eqb_refl, !Bool.orb_true_r.
Qed.

Lemma visit_going t f0 x0 : fixed t = true -> x0 = t \/ fixed x0 = false /\ leads x0 t -> forall rest f todo, incl rest (back x0) ->
  going t f0 (fun x y => In y todo \/ y = x0 /\ In x rest) f -> reached t todo ->
  let (g, todo') := visit t rest f todo in going t f0 (fun _ y => In y todo') g /\ reached t todo'.
Proof.
  intros Ft Ex. induction rest as [|y0 rest IH]; intros f todo Ba [E C] Td; simpl.
  - split; [split; [exact E|] | exact Td]. intros x y Hx Hy. destruct (C x y Hx Hy) as [|[|[_ []]]]; auto.
  - assert (Ba' : incl rest (back x0)) by (intros z Hz; apply Ba; now right). destruct (turned_away f t y0) eqn:T.
    + apply IH; auto. split; [exact E|]. intros x y Hx Hy. destruct (C x y Hx Hy) as [|[|[-> [<-|]]]]; auto.
    + assert (L : fixed y0 = false /\ (length (f y0) < 2)%nat /\ f y0 = f0 y0 /\ leads y0 t).
      { unfold turned_away in T. apply Bool.orb_false_iff in T as [T T3]. apply Bool.orb_false_iff in T as [T1 T2]. apply Nat.leb_gt in T2.
        repeat split; auto; [destruct (E y0) as [|[Q _]]; [assumption | rewrite Q, Nat.eqb_refl in T3; discriminate]|].
        pose proof (Ba y0 (or_introl eq_refl)). destruct Ex as [->|[F L]]; [now apply leads_by | now apply (leads_on y0 x0)]. }
      destruct L as (L1 & L2 & L3 & L4). apply IH; auto; [split | intros y [<-|Hy]; auto].
      * intros z. unfold put. destruct (Nat.eqb_spec z y0) as [->|]; [right; rewrite <- L3; auto | apply E].
      * intros x y Hx Hy. destruct (Nat.eq_dec y y0) as [->|N]; [right; left; now left|].
        assert (Hy' : y = t \/ f y = t :: f0 y) by (unfold put in Hy; destruct (Nat.eqb_spec y y0); [contradiction | assumption]).
        destruct (C x y Hx Hy') as [H|[H|[-> [<-|H]]]]; auto using turned_put; right; simpl; auto.
Qed.

Lemma search_going t f0 : fixed t = true -> forall turns f todo g, going t f0 (fun _ y => In y todo) f -> reached t todo ->
  search turns t f todo = Some g -> going t f0 (fun _ _ => False) g.
Proof.
  intros Ft. induction turns as [|turns IH]; intros f [|x todo] g [E C] Td S; simpl in S; try discriminate; try (injection S as <-; now split).
  pose proof (visit_going t f0 x Ft (Td x (or_introl eq_refl)) (back x) f todo (incl_refl _)) as V.
  destruct (visit t (back x) f todo) as [f' todo']. destruct V as [G R]; [split; [exact E|] | intros y Hy; apply Td; now right | now apply (IH f' todo')].
  intros y z Hy Hz. destruct (C y z Hy Hz) as [|[<-|]]; auto.
Qed.

(* between searches: what was found of the ends `before` *)
Definition settled (before : list nat) (f : found) :=
  (forall x s, In s (f x) -> leads x s /\ In s before) /\ (forall x, NoDup (f x) /\ (length (f x) <= 2)%nat) /\
  forall x y s, In x (back y) -> fixed x = false -> In s before -> y = s \/ In s (f y) -> saw f x s.

Lemma search_settled turns before t f0 f : fixed t = true -> ~ In t before -> settled before f0 -> search turns t f0 [t] = Some f ->
  settled (t :: before) f /\ forall x, incl (f0 x) (f x) /\ (length (f0 x) = 2%nat -> f x = f0 x).
Proof.
  intros Ft Fr (S1 & S2 & S4) S. assert (No : forall x, ~ In t (f0 x)) by (intros x I; now apply S1 in I).
  destruct (search_going t f0 Ft turns f0 [t] f) as [E C]; [split; auto | intros y [<-|[]]; auto | assumption |].
  { intros x y _ [->|H]; [right; now left|]. apply (f_equal (@length nat)) in H. simpl in H. lia. }
  assert (G : forall x, incl (f0 x) (f x) /\ (length (f0 x) = 2%nat -> f x = f0 x)).
  { intros x. destruct (E x) as [->|(-> & L & _)]; [split; [apply incl_refl | auto] | split; [now apply incl_tl, incl_refl | lia]]. }
  assert (Few : forall x, NoDup (f x) /\ (length (f x) <= 2)%nat).
  { intros x. destruct (S2 x), (E x) as [->|(-> & L & _)]; [auto|]. split; [now constructor | simpl; lia]. }
  split; [split; [|split; [exact Few|]] | exact G].
  - intros x s I. destruct (E x) as [Q|(Q & _ & L)]; rewrite Q in I; [|destruct I as [<-|I]; [split; [assumption | now left]|]];
      apply S1 in I as [I1 I2]; split; simpl; auto.
  - intros x y s Hx Fx [<-|Hs] Hy.
    + destruct (C x y Hx) as [T|[]]; [destruct Hy as [|I]; [now left | right; destruct (E y) as [Q|[Q _]]; [rewrite Q in I; now apply No in I | exact Q]]|].
      unfold turned_away in T. rewrite Fx in T. cbn [orb] in T. apply Bool.orb_true_iff in T as [T|T]; [right; apply Nat.leb_le in T; destruct (Few x); lia|].
      left. destruct (f x); [discriminate|]. apply Nat.eqb_eq in T. now left.
    + assert (Old : y = s \/ In s (f0 y)).
      { destruct Hy as [|I]; [now left | right]. destruct (E y) as [Q|[Q _]]; rewrite Q in I; [|destruct I as [<-|]]; easy. }
      destruct (G x) as [G1 G2]. destruct (S4 x y s Hx Fx Hs Old) as [I|L]; [left; auto | right; now rewrite G2].
Qed.

(* every vertex that leads to one of these ends has seen it *)
Lemma all_saw before f : settled before f -> forall x s, In s before -> leads x s -> saw f x s.
Proof.
  intros (S1 & S2 & S4) x s Hs L. induction L as [x s Hx Fx Ft|x y s Hx Fx Fy L IH].
  - apply (S4 x s s); auto.
  - destruct (IH Hs) as [I|E]; [apply (S4 x y s); auto|]. right. destruct (S2 x) as [_ Bx], (S2 y) as [Ny _].
    assert (All : forall r, In r (f y) -> saw f x r) by (intros r I; apply (S4 x y r); auto; now apply S1 in I).
    destruct (f y) as [|a [|b [|]]]; try discriminate. destruct (All a) as [A|]; [now left | | assumption].
    destruct (All b) as [B|]; [right; now left | | assumption].
    assert (length [a; b] <= length (f x))%nat; [|simpl in *; lia].
    apply NoDup_incl_length; [assumption|]. intros z [<-|[<-|[]]]; assumption.
Qed.

Lemma search_all_settled turns ends : forall before f g, StronglySorted (fun s t => (value s <=? value t) = true) ends ->
  NoDup ends -> (forall t, In t ends -> fixed t = true /\ ~ In t before) ->
  (forall r s, In r before -> In s ends -> value r <= value s) ->
  settled before f -> (forall x s, In s before -> leads x s -> knows f x s) -> search_all turns ends f = Some g ->
  settled (rev ends ++ before) g /\ forall x s, In s (rev ends ++ before) -> leads x s -> knows g x s.
Proof.
  induction ends as [|t ends IH]; intros before f g So Nd Fx Ord S K E; simpl in E.
  - injection E as <-. simpl. auto.
  - destruct (search turns t f [t]) as [f'|] eqn:Q; [|discriminate].
    inversion So as [|? ? So' Fo]; subst. inversion Nd as [|? ? Nt Nd']; subst. rewrite Forall_forall in Fo.
    destruct (Fx t (or_introl eq_refl)) as [Ft Fr].
    destruct (search_settled turns before t f f' Ft Fr S Q) as [S' Gr]. simpl. rewrite <- app_assoc. apply (IH (t :: before) f' g); auto.
    + intros s Hs. destruct (Fx s (or_intror Hs)) as [F1 F2]. split; [assumption|]. intros [->|I]; contradiction.
    + intros r s [<-|Hr] Hs; [apply Z.leb_le, (Fo s Hs) | apply Ord; [assumption | now right]].
    + intros x s [<-|Hs] L.
      * destruct (all_saw _ f' S' x t (or_introl eq_refl) L) as [I|E2]; [now left|]. right. split; [assumption|].
        intros r I. destruct S' as [S1 _]. destruct (S1 x r I) as [_ [<-|I']]; [lia|]. apply Ord; [assumption | now left].
      * destruct (Gr x) as [G1 G2]. destruct (K x s Hs L) as [I|[E2 I]]; [left; now apply G1 | right; now rewrite (G2 E2)].
Qed.

(** `_two_least`: what is found for a vertex is led to; and each end that it leads to is found, or
    two other ends are, of no larger value. *)
Theorem two_least_found turns ends g : (forall t, In t ends -> fixed t = true) -> NoDup ends -> two_least turns ends = Some g ->
  (forall x s, In s (g x) -> leads x s) /\ (forall x, NoDup (g x)) /\ forall x s, In s ends -> leads x s -> knows g x s.
Proof.
  intros Fx Nd E. unfold two_least in E. set (le := fun s t => value s <=? value t) in E.
  pose proof (sort_permutes _ le ends) as P.
  destruct (search_all_settled turns (sort le ends) [] (fun _ => []) g) as ((A & B & _) & D); auto; try easy.
  - apply sort_sorted; unfold le; intros a b; [rewrite Z.leb_gt, Z.leb_le; lia | intros c; rewrite !Z.leb_le; lia].
  - now apply (Permutation_NoDup P).
  - intros t Ht. split; [apply Fx; now apply (Permutation_in _ (Permutation_sym P)) | easy].
  - repeat split; simpl; try easy; try constructor. lia.
  - split; [intros x s I; now apply (A x s)|]. split; [intros x; apply B|]. intros x s Hs. apply D.
    rewrite app_nil_r. apply -> in_rev. now apply (Permutation_in _ P).
Qed.

(* whatever end n is not asked for: another is found, no larger than the one that x leads to *)
Lemma knows_else f x t n : NoDup (f x) -> knows f x t -> t <> n -> exists s, In s (f x) /\ s <> n /\ value s <= value t.
Proof.
  intros Nd [I|[E M]] Ne; [exists t; auto using Z.le_refl|]. destruct (f x) as [|a [|b [|]]]; try discriminate.
  inversion Nd as [|? ? Na _]; subst. destruct (Nat.eq_dec a n) as [->|]; [exists b | exists a]; simpl in *; intuition.
Qed.
End Search.

(** Condition 3 of Theorem 3, as the checker tests it: only pairs that the two searches have found
    are compared, and it follows for all pairs of a t that leads to x and an end t' that x leads to. *)
Theorem condition_3 (tails heads : nat -> list nat) (fixed : nat -> bool) (below above : nat -> Z) ends turns reached leading :
  (forall t, fixed t = true <-> In t ends) -> NoDup ends ->
  two_least tails fixed below turns ends = Some reached ->
  two_least heads fixed (fun t => - above t) turns ends = Some leading ->
  (forall x t t', fixed x = false -> In t (leading x) -> In t' (reached x) -> t <> t' -> above t <= below t') ->
  forall x t t', leads heads fixed x t -> leads tails fixed x t' -> t <> t' -> above t <= below t'.
Proof.
  intros Fx Nd R L Ch x t t' Lt Lt' Ne.
  assert (End : forall back y s, leads back fixed y s -> fixed y = false /\ In s ends).
  { intros back y s H. rewrite <- Fx. induction H; tauto. }
  destruct (two_least_found tails fixed below turns ends reached) as (_ & Nr & Kr); auto; [intros; now apply Fx|].
  destruct (two_least_found heads fixed (fun t => - above t) turns ends leading) as (_ & Nl & Kl); auto; [intros; now apply Fx|].
  pose proof (End _ _ _ Lt) as [Fx' Et]. pose proof (End _ _ _ Lt') as [_ Et'].
  destruct (knows_else tails fixed _ _ _ _ t (Nr x) (Kr x t' Et' Lt') ltac:(auto)) as (s' & I' & N' & V').
  destruct (knows_else heads fixed _ _ _ _ s' (Nl x) (Kl x t Et Lt) ltac:(auto)) as (s & I & N & V).
  specialize (Ch x s s' Fx' I I' N). lia.
Qed.
