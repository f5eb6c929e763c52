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
Definition grows (f g : found) := forall x, incl (f x) (g x) /\ (length (f x) = 2%nat -> g x = f x).

(* While t is searched from, after the ends in `before`: what was found is true, and it is known to
   those before it, but where t is still pending. *)
Record state (t : nat) (before : list nat) (pending : nat -> nat -> Prop) (f : found) : Prop := {
  true_ends : forall x s, In s (f x) -> leads x s /\ (s = t \/ In s before);
  few : forall x, NoDup (f x) /\ (length (f x) <= 2)%nat;
  last_first : forall x s l, f x = s :: l -> In t (f x) -> s = t;
  passed : forall x y s, In x (back y) -> fixed x = false -> s = t \/ In s before ->
    y = s \/ In s (f y) -> ~ (s = t /\ pending x y) -> saw f x s }.

Lemma grows_trans f g h : grows f g -> grows g h -> grows f h.
Proof.
  intros A B x. destruct (A x) as [A1 A2], (B x) as [B1 B2]. split; [intros z Hz; auto|].
  intros E. specialize (A2 E). rewrite B2; [assumption | now rewrite A2].
Qed.

Lemma visit_state t before x0 rest f todo : fixed t = true -> ~ In t before -> incl rest (back x0) -> x0 = t \/ fixed x0 = false /\ In t (f x0) ->
  state t before (fun x y => In y todo \/ y = x0 /\ In x rest) f ->
  (forall y, In y todo -> y = t \/ fixed y = false /\ In t (f y)) ->
  let (g, todo') := visit t rest f todo in
  state t before (fun _ y => In y todo') g /\ grows f g /\ forall y, In y todo' -> y = t \/ fixed y = false /\ In t (g y).
Proof.
  intros Ft Fresh. revert f todo. induction rest as [|y0 rest IH]; intros f todo In0 Ex S Td; simpl.
  - split; [|split; [intros x; split; [apply incl_refl | auto] | assumption]].
    destruct S as [S1 S2 S3 S4]. split; auto. intros x y s Hx Fx Hs Hy N. apply (S4 x y s); auto. simpl. tauto.
  - assert (Hy0 : In y0 (back x0)) by (apply In0; now left). assert (In1 : incl rest (back x0)) by (intros z Hz; apply In0; now right).
    destruct (turned_away f t y0) eqn:T.
    + apply IH; auto. destruct S as [S1 S2 S3 S4]. split; auto. intros x y s Hx Fx Hs Hy N.
      destruct (Nat.eq_dec x y0) as [->|Nx]; [|apply (S4 x y s); auto; intros [E [P|[P [Q|Q]]]]; [| congruence |]; apply N; auto].
      unfold turned_away in T. rewrite Fx in T. cbn [orb] in T. destruct (S2 y0) as [_ B]. apply Bool.orb_true_iff in T.
      destruct T as [T|T]; [right; apply Nat.leb_le in T; lia|]. destruct (f y0) as [|s' l] eqn:E; [discriminate|].
      apply Nat.eqb_eq in T. subst s'. destruct (Nat.eq_dec s t) as [->|Ns]; [left; rewrite E; now left|].
      rewrite <- E in B. apply (S4 y0 y s); auto. tauto.
    + unfold turned_away in T. apply Bool.orb_false_iff in T. destruct T as [T T3]. apply Bool.orb_false_iff in T. destruct T as [T1 T2].
      apply Nat.leb_gt in T2. assert (Nt : ~ In t (f y0)).
      { intros I. destruct (f y0) as [|s l] eqn:E; [easy|]. apply Nat.eqb_neq in T3. apply T3. destruct S as [_ _ S3 _].
        apply (S3 y0 s l E). now rewrite E. }
      assert (Pu : forall z, incl (f z) (put f y0 t z) /\ (z <> y0 -> put f y0 t z = f z)).
      { intros z. unfold put. destruct (Nat.eqb_spec z y0) as [->|]; [split; [intros w Hw; now right | congruence] | split; [apply incl_refl | auto]]. }
      assert (Py : put f y0 t y0 = t :: f y0) by (unfold put; now rewrite Nat.eqb_refl). assert (Lt : leads y0 t).
      { destruct Ex as [->|[Fx0 I]]; [now apply leads_by|]. destruct S as [S1 _ _ _]. apply (leads_on y0 x0); auto. now apply S1. }
      assert (G : grows f (put f y0 t)). { intros z. split; [apply Pu|]. intros E. apply Pu. intros ->. lia. }
      assert (S' : state t before (fun x y => In y (y0 :: todo) \/ y = x0 /\ In x rest) (put f y0 t)).
      { destruct S as [S1 S2 S3 S4]. split.
        - intros x s I. destruct (Nat.eq_dec x y0) as [->|N]; [|rewrite (proj2 (Pu x) N) in I; auto].
          rewrite Py in I. destruct I as [<-|I]; auto.
        - intros x. destruct (Nat.eq_dec x y0) as [->|N]; [|rewrite (proj2 (Pu x) N); auto].
          rewrite Py. split; [constructor; [assumption | apply S2] | simpl; lia].
        - intros x s l E I. destruct (Nat.eq_dec x y0) as [->|N]; [rewrite Py in E; congruence|].
          rewrite (proj2 (Pu x) N) in E, I. eauto.
        - intros x y s Hx Fx Hs Hy N. destruct (Nat.eq_dec s t) as [->|Ns].
          + destruct (Nat.eq_dec x y0) as [->|Nx]; [left; rewrite Py; now left|]. unfold saw. rewrite (proj2 (Pu x) Nx).
            destruct (Nat.eq_dec y y0) as [->|Ny]; [exfalso; apply N; simpl; auto|]. rewrite (proj2 (Pu y) Ny) in Hy.
            apply (S4 x y t); auto. intros [_ [P|[P [Q|Q]]]]; [| congruence |]; apply N; simpl; auto.
          + assert (Old : y = s \/ In s (f y)).
            { destruct Hy as [|I]; [now left | right]. destruct (Nat.eq_dec y y0) as [->|Ny]; [rewrite Py in I; destruct I; [congruence | assumption] | now rewrite (proj2 (Pu y) Ny) in I]. }
            destruct (S4 x y s Hx Fx Hs Old) as [I|E]; [tauto | left; now apply (proj1 (Pu x)) | right; now rewrite (proj2 (G x) E)]. }
      specialize (IH (put f y0 t) (y0 :: todo) In1). destruct (visit t rest (put f y0 t) (y0 :: todo)) as [g todo'].
      destruct IH as (A & B & D); auto.
      * destruct Ex as [|[E I]]; [now left | right; split; [assumption | now apply Pu]].
      * intros y [<-|Hy]; [right; split; [assumption | rewrite Py; now left]|]. destruct (Td y Hy) as [|[E I]]; [now left | right; split; [assumption | now apply Pu]].
      * split; [assumption|]. split; [now apply (grows_trans f (put f y0 t)) | assumption].
Qed.

Lemma search_state t before : fixed t = true -> ~ In t before -> forall turns f todo g,
  state t before (fun _ y => In y todo) f -> (forall y, In y todo -> y = t \/ fixed y = false /\ In t (f y)) ->
  search turns t f todo = Some g -> state t before (fun _ _ => False) g /\ grows f g.
Proof.
  intros Ft Fresh. induction turns as [|turns IH]; intros f [|x todo] g S Td E; simpl in E; try discriminate;
    try (injection E as <-; split; [exact S | intros z; split; [apply incl_refl | auto]]).
  pose proof (visit_state t before x (back x) f todo Ft Fresh (incl_refl _) (Td x (or_introl eq_refl))) as V.
  destruct (visit t (back x) f todo) as [f' todo']. destruct V as (A & B & D).
  - destruct S as [S1 S2 S3 S4]. split; auto. intros u y s Hu Fu Hs Hy N. apply (S4 u y s); auto.
    intros [Q [<-|I]]; apply N; auto.
  - intros y Hy. apply Td. now right.
  - destruct (IH f' todo' g A D E) as [P Q]. split; [exact P | now apply (grows_trans f f')].
Qed.

(* between searches: what was found of the ends `before` *)
Definition settled (before : list nat) (f : found) :=
  (forall x s, In s (f x) -> leads x s /\ In s before) /\ (forall x, NoDup (f x) /\ (length (f x) <= 2)%nat) /\
  forall x y s, In x (back y) -> fixed x = false -> In s before -> y = s \/ In s (f y) -> saw f x s.

Lemma settled_state before f t : ~ In t before -> settled before f -> state t before (fun _ y => In y [t]) f.
Proof.
  intros Fr (S1 & S2 & S4). assert (No : forall x, ~ In t (f x)) by (intros x I; now destruct (S1 x t I)).
  split; [intros x s I; destruct (S1 x s I); auto | exact S2 | intros x s l _ I; now destruct (No x) |].
  intros x y s Hx Fx [->|Hs] Hy N; [|now apply (S4 x y s)].
  destruct Hy as [->|I]; [exfalso; apply N; simpl; auto | now destruct (No y)].
Qed.

Lemma state_settled before f t : state t before (fun _ _ => False) f -> settled (t :: before) f.
Proof.
  intros [S1 S2 _ S4]. split; [|split; [exact S2|]].
  - intros x s I. destruct (S1 x s I) as [L [->|H]]; split; simpl; auto.
  - intros x y s Hx Fx [<-|Hs] Hy; (apply (S4 x y); auto; tauto).
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
    destruct (search_state t before Ft Fr turns f [t] f' (settled_state before f t Fr S)) as [S' Gr]; auto.
    { intros y [<-|[]]. now left. }
    apply state_settled in S'. simpl. rewrite <- app_assoc. apply (IH (t :: before) f' g); auto.
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
  specialize (Kr x t' (proj2 (End _ _ _ Lt')) Lt'). specialize (Kl x t (proj2 (End _ _ _ Lt)) Lt).
  assert (Two : forall (l : list nat) n, NoDup l -> length l = 2%nat -> exists s, In s l /\ s <> n).
  { intros l n N E. destruct l as [|a [|b [|]]]; try discriminate. inversion N as [|? ? Na _]; subst.
    destruct (Nat.eq_dec a n) as [->|]; [exists b; split; [simpl; auto | intros ->; apply Na; now left] | exists a; simpl; auto]. }
  specialize (Ch x). pose proof (proj1 (End _ _ _ Lt)) as Fx'. destruct Kl as [I|[E M]], Kr as [I'|[E' M']].
  - auto.
  - destruct (Two (reached x) t (Nr x) E') as (s & Is & Ns). specialize (Ch t s Fx' I Is ltac:(auto)). specialize (M' s Is). lia.
  - destruct (Two (leading x) t' (Nl x) E) as (s & Is & Ns). specialize (Ch s t' Fx' Is I' Ns). specialize (M s Is). lia.
  - destruct (Two (leading x) 0%nat (Nl x) E) as (s & Is & _). destruct (Two (reached x) s (Nr x) E') as (s' & Is' & Ns).
    specialize (Ch s s' Fx' Is Is' ltac:(auto)). specialize (M s Is). specialize (M' s' Is'). lia.
Qed.
