const numbers = new WeakMap<object, number>();
let numbered = 0;

/** Functions are equal when they are the same: then they have the same number. */
export function numberOf(value: object | undefined): number {
  if (value === undefined) return 0;
  let number = numbers.get(value);
  if (number === undefined) numbers.set(value, (number = ++numbered));
  return number;
}
