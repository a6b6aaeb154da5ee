/** What a person can do something about: told without a stack. */
export class Failure extends Error {}

/** Wrong arguments, told with how they go. */
export class Usage extends Failure {}
