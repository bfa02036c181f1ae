/** Stops a command or the start; the operator can fix the cause. Its message is one line and holds no secret. */
export class OperatorError extends Error {}
