// What the other files tell types apart with.
type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;
/** Compiles where both types are the same. */
export declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [never]): void;
