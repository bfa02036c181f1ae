import { catalogue } from '../../../errors/catalogue.ts';
import { ServiceError } from '../../../errors/fail.ts';
import type { Conflict } from '../../protocol/protocol.ts';

/** Another user changed the same fields meanwhile (409). The API adds `conflict` to the answer. */
export class ConflictError extends ServiceError {
  readonly conflict: Conflict;

  constructor(conflict: Conflict) {
    super('changedMeanwhile', catalogue.changedMeanwhile.text());
    this.conflict = conflict;
  }
}
