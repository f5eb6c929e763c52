(* Finite graphs with lengths, and steepest slopes. *)
From Wayfield Require Import Lists.
Open Scope R_scope.

Record arc := Arc { tail : nat; head : nat; len : R }.
Definition graph := list arc.
Definition field := nat -> R.

Definition positive (G : graph) := forall a, In a G -> 0 < len a.
Definition reversed (a : arc) := Arc (head a) (tail a) (len a).
(* an undirected edge is two arcs *)
Definition undirected (G : graph) := forall a, In a G -> In (reversed a) G.
(* no arc leads into D or out of it *)
Definition within (G : graph) (D : list nat) := forall a, In a G -> In (tail a) D <-> In (head a) D.

Definition out (G : graph) x := filter (fun a => Nat.eqb (tail a) x) G.
Definition into (G : graph) x := filter (fun a => Nat.eqb (head a) x) G.

(* the arcs between vertices of K (`_between`) *)
Definition inb x (K : list nat) := if in_dec Nat.eq_dec x K then true else false.
Definition among (G : graph) K := filter (fun a => andb (inb (tail a) K) (inb (head a) K)) G.

(* from x a walk leads to a vertex of L *)
Inductive reaches (G : graph) (L : list nat) : nat -> Prop :=
| reaches_at x : In x L -> reaches G L x
| reaches_by a : In a G -> reaches G L (head a) -> reaches G L (tail a).

Lemma in_out G x a : In a (out G x) <-> In a G /\ tail a = x.
Proof. unfold out. rewrite filter_In, Nat.eqb_eq. tauto. Qed.
Lemma in_into G x a : In a (into G x) <-> In a G /\ head a = x.
Proof. unfold into. rewrite filter_In, Nat.eqb_eq. tauto. Qed.
Lemma into_within G D x a : within G D -> In x D -> In a (into G x) -> In a G /\ head a = x /\ In (tail a) D.
Proof. intros W Hx Ha. apply in_into in Ha as [Ha <-]. repeat split; auto. now apply W. Qed.
Lemma out_within G D x a : within G D -> In x D -> In a (out G x) -> In a G /\ tail a = x /\ In (head a) D.
Proof. intros W Hx Ha. apply in_out in Ha as [Ha <-]. repeat split; auto. now apply W. Qed.
Lemma in_among G K a : In a (among G K) <-> In a G /\ In (tail a) K /\ In (head a) K.
Proof. unfold among, inb. rewrite filter_In. destruct (in_dec _ (tail a) K), (in_dec _ (head a) K); intuition easy. Qed.
Lemma among_positive G K : positive G -> positive (among G K).
Proof. intros P a H. apply in_among in H. now apply P. Qed.
Lemma among_within G K : within (among G K) K.
Proof. intros a H. apply in_among in H. tauto. Qed.

(* for an equation B u = 0 on D outside L: a subsolution v is no higher than a supersolution u, if it is not on L *)
Definition no_higher (D L : list nat) (B : field -> nat -> R) (v u : field) :=
  (forall x, In x D -> In x L -> v x <= u x) ->
  (forall x, In x D -> ~ In x L -> 0 <= B v x) -> (forall x, In x D -> ~ In x L -> B u x <= 0) ->
  forall x, In x D -> v x <= u x.

(* how steeply v falls along an arc *)
Definition fall (v : field) (a : arc) := (v (tail a) - v (head a)) / len a.

(* the largest of 0 and the falls along some arcs *)
Definition steepest (v : field) (A : list arc) := fold_right Rmax 0 (map (fall v) A).

(* S+ and S-: the steepest slope down into x, and the steepest out of it *)
Definition S_up G v x := steepest v (into G x).
Definition S_down G v x := steepest v (out G x).
Definition balance_amle (G : graph) (v : field) x := S_up G v x - S_down G v x.
Definition level (G : graph) (u : field) x := S_up G u x = 0 /\ S_down G u x = 0.

Lemma steepest_nonneg v A : 0 <= steepest v A.
Proof. unfold steepest. induction A as [|a A IH]; simpl; [lra|]. eapply Rle_trans; [exact IH | apply Rmax_r]. Qed.

Lemma fall_le_steepest v A a : In a A -> fall v a <= steepest v A.
Proof.
  unfold steepest. induction A as [|b A IH]; simpl; [easy|].
  intros [->|H]; [apply Rmax_l | eapply Rle_trans; [now apply IH | apply Rmax_r]].
Qed.

Lemma steepest_attained v A : 0 < steepest v A -> exists a, In a A /\ fall v a = steepest v A.
Proof.
  unfold steepest. induction A as [|b A IH]; simpl; [lra|].
  destruct (Rle_dec (fall v b) (fold_right Rmax 0 (map (fall v) A))) as [L|L].
  - rewrite Rmax_right by assumption. intros H. destruct (IH H) as (a & Ha & E). exists a. auto.
  - rewrite Rmax_left by lra. exists b. auto.
Qed.

Lemma steepest_le v A s : 0 <= s -> (forall a, In a A -> fall v a <= s) -> steepest v A <= s.
Proof. unfold steepest. induction A; simpl; intros Hs H; [lra | apply Rmax_lub; auto]. Qed.

Lemma largest_of_all (f : field) (D : list nat) x0 : In x0 D -> exists x, In x D /\ forall y, In y D -> f y <= f x.
Proof.
  revert x0. induction D as [|d [|e D] IH]; intros x0 H; [easy | exists d; split; [now left | intros y [<-|[]]; lra]|].
  destruct (IH e (or_introl eq_refl)) as (x & Hx & Mx). destruct (Rle_dec (f d) (f x)); [exists x | exists d];
    (split; [simpl; auto|]); intros y [<-|Hy]; try lra; specialize (Mx y Hy); lra.
Qed.

(* the members of a list with a decidable property *)
Definition those {P : nat -> Prop} (dec : forall x, {P x} + {~ P x}) := filter (fun y => if dec y then true else false).
Lemma in_those P (dec : forall x, {P x} + {~ P x}) D y : In y (those dec D) <-> In y D /\ P y.
Proof. unfold those. rewrite filter_In. destruct (dec y); intuition congruence. Qed.

Lemma largest (P : nat -> Prop) (dec : forall x, {P x} + {~ P x}) (f : field) (D : list nat) :
  (exists x, In x D /\ P x) -> exists x, In x D /\ P x /\ forall y, In y D -> P y -> f y <= f x.
Proof.
  intros (x & Hx). apply (in_those P dec) in Hx. destruct (largest_of_all f _ x Hx) as (z & Hz & Mz).
  apply in_those in Hz as [Hz Pz]. exists z. repeat split; auto. intros y Hy Py. apply Mz, in_those. auto.
Qed.

Lemma fall_le v w a : 0 < len a -> fall v a <= fall w a <-> v (tail a) - v (head a) <= w (tail a) - w (head a).
Proof. apply div_le. Qed.
Lemma fall_pos v a : 0 < len a -> 0 < fall v a <-> v (head a) < v (tail a).
Proof. intros Hl%Rinv_0_lt_compat. unfold fall, Rdiv. split; nra. Qed.

Lemma steepest_mono v w A : (forall a, In a A -> fall v a <= fall w a) -> steepest v A <= steepest w A.
Proof.
  intros H. apply steepest_le; [apply steepest_nonneg|]. intros a Ha. eapply Rle_trans; [now apply H | now apply fall_le_steepest].
Qed.

Lemma steepest_shift v s A : steepest (fun y => v y + s) A = steepest v A.
Proof. unfold steepest. f_equal. apply map_ext. intros a. unfold fall. f_equal. lra. Qed.
Lemma steepest_zero v A : steepest v A = 0 -> forall a, In a A -> fall v a <= 0.
Proof. intros E a Ha. rewrite <- E. now apply fall_le_steepest. Qed.
(* a vertex out of which an arc falls is not level *)
Lemma not_level G v a : positive G -> In a G -> v (head a) < v (tail a) -> ~ level G v (tail a).
Proof.
  intros P Ha Dn [_ D]. apply fall_pos in Dn; [|now apply P]. pose proof (steepest_zero _ _ D a). rewrite in_out in *. intuition lra.
Qed.
Lemma level_dec G u x : {level G u x} + {~ level G u x}.
Proof. unfold level. destruct (Req_EM_T (S_up G u x) 0), (Req_EM_T (S_down G u x) 0); tauto. Qed.

Lemma arc_dec (e f : arc) : {e = f} + {e <> f}.
Proof. decide equality; apply Req_EM_T || apply Nat.eq_dec. Qed.

(* adding arcs that do not descend does not change the steepest slope *)
Lemma steepest_more v A B : incl B A -> (forall e, In e A -> ~ In e B -> fall v e <= 0) -> steepest v B = steepest v A.
Proof.
  intros I H. apply Rle_antisym; (apply steepest_le; [apply steepest_nonneg|]); intros e He; [now apply fall_le_steepest, I|].
  destruct (in_dec arc_dec e B); [now apply fall_le_steepest|]. eapply Rle_trans; [now apply H | apply steepest_nonneg].
Qed.

Lemma kept G K v x : In x K ->
  (forall e, In e G -> tail e = x /\ ~ In (head e) K \/ head e = x /\ ~ In (tail e) K -> fall v e <= 0) ->
  S_up (among G K) v x = S_up G v x /\ S_down (among G K) v x = S_down G v x.
Proof.
  intros Hx H. split; apply steepest_more; intros e He; rewrite ?in_into, ?in_out, ?in_among in *; try tauto; intros N; apply H; try tauto;
    destruct He as [He <-]; [right | left]; tauto.
Qed.
