import { ServiceError } from '../../../errors/fail.ts';
import { ServiceFault } from '../loading/failure.ts';
import type { FromThread, OperationRequest, SentServiceError, ToThread } from './protocol.ts';

/** Operations of a thread that the service works on at a time: a function may begin any number without waiting, and those wait here. */
const MAX_OUTSTANDING = 64;

interface Operation {
  readonly call: number;
  readonly request: OperationRequest;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Operations on records that the functions of this thread have begun. */
export class Operations {
  readonly #post: (message: FromThread) => void;
  readonly #outstanding = new Map<number, Operation>();
  readonly #waiting: Operation[] = [];
  #last = 0;

  constructor(post: (message: FromThread) => void) {
    this.#post = post;
  }

  /** Has an operation executed. @throws errors of the catalogue; ServiceFault for a fault of the service */
  request(call: number, request: OperationRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, request, resolve, reject });
      this.#send();
    });
  }

  answer(message: Extract<ToThread, { type: 'answer' | 'refusal' }>): void {
    const operation = this.#outstanding.get(message.operation);
    if (!operation) return;
    this.#outstanding.delete(message.operation);
    this.#send();
    if (message.type === 'refusal') operation.reject(errorOf(message.error));
    else operation.resolve(message.text === undefined ? undefined : JSON.parse(message.text));
  }

  #send(): void {
    while (this.#outstanding.size < MAX_OUTSTANDING) {
      const next = this.#waiting.shift();
      if (!next) return;
      const operation = ++this.#last;
      this.#outstanding.set(operation, next);
      this.#post({ type: 'operation', call: next.call, operation, request: next.request });
    }
  }
}

function errorOf(sent: SentServiceError | null): Error {
  if (!sent) return new ServiceFault();
  const error = new ServiceError(sent.key, sent.text, sent.details);
  error.item = sent.item;
  return error;
}
