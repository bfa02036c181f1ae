import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { TriggerEvent } from '../model/model.ts';
import { UnreadableJob } from '../queue/retryable-jobs.ts';

/** The table of outgoing mail (mail.md#emails-rows). */
export const mailTable = 'Emails';

/** A queued message. It is stored completely, so changes of its row in `Emails` do not affect it. */
export interface QueuedMail {
  readonly message: MailMessage & { readonly messageId: string };
  /** objectId of its row in `Emails`. */
  readonly emailId: string;
  /** objectId of the action's row in `_syslogTriggers`. */
  readonly logId: string;
  /** The action that sends it, and the record that fired the trigger. */
  readonly trigger: {
    readonly id: string;
    readonly actionId: string;
    readonly event: TriggerEvent;
    readonly className: string;
    readonly objectId: string;
  };
  /** Set if the server accepted the message for some recipients only: the final refusals. `message.only` lists the recipients to retry. */
  readonly rest?: { readonly refused: readonly string[] };
}

/** Returns the `state` of the job for a message. */
export function mailState(mail: QueuedMail): JsonObject {
  return mail as unknown as JsonObject;
}

/** Returns the message in the `state` of a job, as `mailState` wrote it. @throws UnreadableJob */
export function mailOf(state: JsonObject): QueuedMail {
  const { message, emailId, logId, trigger } = state;
  if (!isJsonObject(message) || !isJsonObject(trigger) || typeof emailId !== 'string' || typeof logId !== 'string')
    throw new UnreadableJob();
  return state as unknown as QueuedMail;
}
