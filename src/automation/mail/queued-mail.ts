import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { TriggerEvent } from '../model/model.ts';
import { UnreadableJob } from '../queue/retryable-jobs.ts';

/** The table of outgoing mail (SPEC "Main business tables"). */
export const mailTable = 'Emails';

/** A message that waits in the queue. It is here whole, so that it does not matter what becomes of its row in `Emails`. */
export interface QueuedMail {
  readonly message: MailMessage & { readonly messageId: string };
  /** Its row in `Emails`. */
  readonly emailId: string;
  /** The action's row in `_syslogTriggers`. */
  readonly logId: string;
  /** What has it sent, and for which record. */
  readonly trigger: {
    readonly id: string;
    readonly actionId: string;
    readonly event: TriggerEvent;
    readonly className: string;
    readonly objectId: string;
  };
  /** Where the server took it for some recipients alone: why others did not get it, and will not; `message.only` are still to get it. */
  readonly rest?: { readonly refused: readonly string[] };
}

/** As the `state` of its job has it. */
export function stateOf(mail: QueuedMail): JsonObject {
  return mail as unknown as JsonObject;
}

/** The message of a job that `stateOf` was written for. @throws UnreadableJob */
export function mailOf(state: JsonObject): QueuedMail {
  const { message, emailId, logId, trigger } = state;
  if (!isJsonObject(message) || !isJsonObject(trigger) || typeof emailId !== 'string' || typeof logId !== 'string')
    throw new UnreadableJob();
  return state as unknown as QueuedMail;
}
