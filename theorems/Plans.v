(* Plans on graphs: hops (Theorem 5), the half-gap lemma (6) and the interval test (7). *)
From Wayfield Require Import Lists Graph.
Open Scope R_scope.

(* ---------- Theorem 5: the moves, and the hops that the file states *)
Section Hops.
Variables (g : nat) (move hops : nat -> nat).
Hypothesis at_goal : move g = g /\ hops g = 0%nat.
Hypothesis no_move : forall x, x <> g -> move x = x -> hops x = 0%nat.
Hypothesis one_more : forall x, x <> g -> move x <> x ->
  hops x = if Nat.eqb (move x) g then 1%nat
           else (hops (move x) + if Nat.eqb (hops (move x)) 0 then 0 else 1)%nat.

Fixpoint after m x := match m with O => x | S m => after m (move x) end.

(** Theorem 5. A start of h > 0 hops reaches the goal in h moves, and no sooner. *)
Theorem arrives : forall x, x <> g -> (0 < hops x)%nat ->
  after (hops x) x = g /\ forall m, (m < hops x)%nat -> after m x <> g.
Proof.
  intros x Hx H. remember (hops x) as k eqn:E. revert x Hx E. induction k as [|k IH]; intros x Hx E; [lia|].
  assert (N : move x <> x) by (intros F; rewrite (no_move x Hx F) in E; discriminate).
  pose proof (one_more x Hx N) as O. rewrite <- E in O. destruct (Nat.eqb_spec (move x) g) as [F|F].
  - injection O as ->. split; [exact F|]. intros [|m] Hm; [exact Hx | lia].
  - destruct (Nat.eqb_spec (hops (move x)) 0); [lia|]. destruct (IH ltac:(lia) (move x) F) as [A B]; [lia|].
    split; [exact A|]. intros [|m] Hm; [exact Hx | apply B; lia].
Qed.

(** Theorem 5. A start of 0 hops, other than the goal, never reaches it. *)
Theorem never_arrives : forall x, x <> g -> hops x = 0%nat -> forall m, after m x <> g.
Proof.
  intros x Hx E m. revert x Hx E. induction m as [|m IH]; intros x Hx E; [exact Hx|].
  simpl. destruct (Nat.eq_dec (move x) x) as [->|N]; [now apply IH|].
  pose proof (one_more x Hx N) as O. rewrite E in O. destruct (Nat.eqb_spec (move x) g); [discriminate|].
  apply IH; [assumption|]. destruct (Nat.eqb_spec (hops (move x)) 0); lia.
Qed.
End Hops.

(* ---------- the true cost-to-go V, where the goal can be reached (able); infinite elsewhere *)

(** Theorem 6, the half-gap lemma. The field u lies between lower and upper, and e bounds its error:
    an arc that leads every other by more than the errors of both is the only optimal move. *)
Theorem half_gap (G : graph) (able : nat -> Prop) (V u lower upper e : field) c :
  (forall y, able y -> Rabs (u y - V y) <= e y) -> (forall y, able y -> lower y <= u y <= upper y) -> able (head c) ->
  (forall b, In b G -> tail b = tail c -> head b <> head c -> able (head b) ->
     (len b + lower (head b)) - (len c + upper (head c)) > e (head b) + e (head c)) ->
  forall b, In b G -> tail b = tail c -> head b <> head c -> able (head b) -> len c + V (head c) < len b + V (head b).
Proof.
  intros E B Hc H b Gb Tb Nb Hb. specialize (H b Gb Tb Nb Hb). pose proof (B _ Hb). pose proof (B _ Hc).
  pose proof (Rabs_between _ _ (E _ Hb)). pose proof (Rabs_between _ _ (E _ Hc)). lra.
Qed.

(* ---------- Theorem 7: the world may price arcs otherwise than the graph, and have more of them *)
Inductive walk (G : graph) : nat -> nat -> R -> Prop :=
| walk_at x : walk G x x 0
| walk_by a z l : In a G -> walk G (head a) z l -> walk G (tail a) z (len a + l).

Section Interval.
Variables (G : graph) (price : arc -> R) (able labelled : nat -> Prop) (V Y err : field).
(* every arc of the graph can be used in the world, and costs no more there than its length *)
Hypothesis usable : forall a, In a G -> able (head a) -> able (tail a) /\ V (tail a) <= price a + V (head a).
Hypothesis no_dearer : forall a, In a G -> price a <= len a.
(* labels are right within their errors; a goal without a label counts as labelled 0 with error 0 *)
Hypothesis labels : forall z, labelled z -> able z /\ Rabs (Y z - V z) <= err z.
Hypothesis nonneg : forall x, able x -> 0 <= V x.

(* M at a vertex, by a walk to a label; W at a vertex, by a walk from a label, or 0 *)
Definition is_M x M := exists z l, labelled z /\ walk G x z l /\ M = Y z + err z + l.
Definition is_W x W := W = 0 \/ exists z l, labelled z /\ walk G z x l /\ W = Y z - err z - l.

Lemma along x z l : walk G x z l -> able z -> able x /\ V x <= l + V z.
Proof.
  induction 1 as [x|a z l Ha _ IH]; intros Hz; [split; [assumption | lra]|].
  destruct (IH Hz) as [Ab Le]. destruct (usable a Ha Ab). specialize (no_dearer a Ha). split; [assumption | lra].
Qed.

Lemma W_below x W : able x -> is_W x W -> W <= V x.
Proof.
  intros Ax [->|(z & l & Hz & Wk & ->)]; [now apply nonneg|].
  destruct (labels z Hz) as [_ E%Rabs_between], (along z x l Wk Ax). lra.
Qed.

(** W <= V <= M, and M is finite only where the goal can be reached. *)
Theorem interval x M W : is_M x M -> is_W x W -> able x /\ W <= V x <= M.
Proof.
  intros (z & l & Hz & Wk & ->) HW. destruct (labels z Hz) as [Az E]. destruct (along x z l Wk Az) as [Ax Le].
  apply Rabs_between in E. split; [assumption|]. split; [now apply W_below | lra].
Qed.

(** Theorem 7, the interval test. The move along c is optimal among the arcs of the graph from its
    tail, provided that these cost what the graph says. *)
Theorem interval_test c M : In c G -> is_M (head c) M ->
  (forall b, In b G -> tail b = tail c -> head b <> head c -> exists W, is_W (head b) W /\ len c + M <= len b + W) ->
  (* the proviso *)
  (forall b, In b G -> tail b = tail c -> price b = len b) ->
  able (head c) /\ forall b, In b G -> tail b = tail c -> head b <> head c -> able (head b) ->
    price c + V (head c) <= price b + V (head b).
Proof.
  intros Gc HM H Proviso. destruct (interval (head c) M 0 HM (or_introl eq_refl)) as [Ac Bc]. split; [assumption|].
  intros b Gb Tb Nb Ab. destruct (H b Gb Tb Nb) as (W & HW & L). rewrite !Proviso by auto.
  pose proof (W_below _ _ Ab HW). lra.
Qed.
End Interval.
