/** Something that stops a command or the start and that the operator can mend. Its message is the one line that he sees; it holds no secret. */
export class OperatorError extends Error {}
