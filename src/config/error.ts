import { OperatorError } from '../kernel/operator-error.ts';

/** A setting that stops the start. Its message never holds a setting's value. */
export class ConfigError extends OperatorError {}
