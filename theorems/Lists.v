(* Lists: sums, and sorting as Python's `sorted` with a key does it: stable, ascending. *)
From Coq Require Export Reals List Permutation Sorted NArith ZArith Arith Bool Lia Lra.
Export ListNotations.

Section Sort.
Variable A : Type.
Variable le : A -> A -> bool.
Hypothesis le_total : forall a b, le a b = false -> le b a = true.
Hypothesis le_trans : forall a b c, le a b = true -> le b c = true -> le a c = true.

Fixpoint insert a l :=
  match l with [] => [a] | b :: rest => if le a b then a :: l else b :: insert a rest end.
Definition sort := fold_right insert [].

Lemma insert_permutes a l : Permutation (a :: l) (insert a l).
Proof.
  induction l as [|b l IH]; simpl; [reflexivity|]. destruct (le a b); [reflexivity|].
  rewrite perm_swap. now constructor.
Qed.

Lemma sort_permutes l : Permutation l (sort l).
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. rewrite <- insert_permutes. now constructor. Qed.

Lemma insert_sorted a l : StronglySorted (fun a b => le a b = true) l -> StronglySorted (fun a b => le a b = true) (insert a l).
Proof.
  induction l as [|b l IH]; intros S; simpl; [repeat constructor|]. inversion S as [|? ? Sl F]; subst.
  destruct (le a b) eqn:E.
  - constructor; [assumption|]. constructor; [assumption|]. eapply Forall_impl; [|exact F]. intros c. now apply le_trans.
  - constructor; [now apply IH|]. apply (Permutation_Forall (insert_permutes a l)). constructor; auto.
Qed.

Lemma sort_sorted l : StronglySorted (fun a b => le a b = true) (sort l).
Proof. induction l as [|a l IH]; simpl; [constructor | now apply insert_sorted]. Qed.
End Sort.
Arguments sort {A} le l.

(* ---------- sums over lists *)
Open Scope R_scope.
Definition sum {A} (f : A -> Z) l := fold_right Z.add 0%Z (map f l).
Definition rsum {A} (f : A -> R) l := fold_right Rplus 0 (map f l).

Lemma rsum_permutes {A} (f : A -> R) l l' : Permutation l l' -> rsum f l = rsum f l'.
Proof. induction 1; unfold rsum in *; simpl; lra. Qed.
Lemma rsum_app {A} (f : A -> R) l m : rsum f (l ++ m) = rsum f l + rsum f m.
Proof. unfold rsum. induction l; simpl; lra. Qed.

Lemma rsum_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> rsum f l = rsum g l.
Proof. intros H. unfold rsum. f_equal. now apply map_ext_in. Qed.

Lemma Rabs_between x a : Rabs x <= a -> - a <= x <= a.
Proof. unfold Rabs. destruct (Rcase_abs x); lra. Qed.
(* of nonnegative numbers each is no more than their sum *)
Lemma sum_part {A} (g : A -> R) l : (forall a, In a l -> 0 <= g a) ->
  0 <= rsum g l /\ forall a, In a l -> g a <= rsum g l.
Proof.
  unfold rsum. induction l as [|b l IH]; simpl; intros H; [split; [lra | easy]|].
  destruct IH as [S P]; [auto|]. pose proof (H b (or_introl eq_refl)).
  split; [lra|]. intros a [<-|Ha]; [lra|]. specialize (P a Ha). lra.
Qed.

Lemma rsum_le {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> rsum f l <= rsum g l.
Proof. unfold rsum. induction l; simpl; intros H; [lra | apply Rplus_le_compat; auto]. Qed.

(* if no term of one sum exceeds that of another, and the sums are equal, so are the terms *)
Lemma sums_agree {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> rsum g l <= rsum f l ->
  forall a, In a l -> f a = g a.
Proof.
  unfold rsum. induction l as [|b l IH]; simpl; intros H E a Ha; [easy|]. pose proof (H b (or_introl eq_refl)).
  pose proof (rsum_le f g l ltac:(auto)) as Le. unfold rsum in Le. destruct Ha as [<-|Ha]; [lra | apply IH; auto; lra].
Qed.
Lemma rsum_zero {A} (f : A -> R) l : (forall a, In a l -> f a = 0) -> rsum f l = 0.
Proof. unfold rsum. induction l as [|a l IH]; simpl; intros H; [reflexivity|]. rewrite (H a), IH; auto. lra. Qed.

(* finitely many numbers are bounded *)
Lemma bounded {A} (f : A -> R) l : exists M, 0 <= M /\ forall a, In a l -> - M <= f a <= M.
Proof.
  destruct (sum_part (fun a => Rabs (f a)) l) as [M0 P]; [intros; apply Rabs_pos|].
  eexists. split; [exact M0|]. intros a Ha. apply Rabs_between. now apply P.
Qed.

(* with weights: counts of outcomes, odds, probabilities *)
Definition wsum {A} (w f : A -> R) := rsum (fun a => w a * f a).
Lemma wsum_plus {A} (w f g : A -> R) l : wsum w (fun a => f a + g a) l = wsum w f l + wsum w g l.
Proof. unfold wsum, rsum. induction l; simpl; lra. Qed.
Lemma wsum_scal {A} (w f : A -> R) r l : wsum w (fun a => r * f a) l = r * wsum w f l.
Proof. unfold wsum, rsum. induction l; simpl; lra. Qed.
(* if nothing is negative, a part of the sum is no more than all *)
Lemma wsum_one {A} (w f : A -> R) l a : (forall a, In a l -> 0 <= w a /\ 0 <= f a) -> In a l -> w a * f a <= wsum w f l.
Proof. intros H. apply (sum_part (fun a => w a * f a)). intros b Hb. now apply Rmult_le_pos; apply H. Qed.

Lemma sum_permutes {A} (f : A -> Z) l l' : Permutation l l' -> sum f l = sum f l'.
Proof. unfold sum. induction 1; simpl; lia. Qed.
Lemma sum_plus {A} (f g : A -> Z) l : sum (fun a => f a + g a)%Z l = (sum f l + sum g l)%Z.
Proof. unfold sum. induction l; simpl; lia. Qed.
Lemma sum_nonneg {A} (f : A -> Z) l : (forall a, In a l -> (0 <= f a)%Z) -> (0 <= sum f l)%Z.
Proof. unfold sum. induction l; simpl; intros H; [lia | apply Z.add_nonneg_nonneg; auto]. Qed.

Lemma div_le a b l : 0 < l -> a / l <= b / l <-> a <= b.
Proof. intros Hl. apply Rinv_0_lt_compat in Hl. split; [now apply Rmult_le_reg_r | apply Rmult_le_compat_r; lra]. Qed.
