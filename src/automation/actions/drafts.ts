import type { JsonObject } from '../../kernel/json.ts';
import type { ActionDraft } from '../model/action.ts';
import { fillerFor } from '../templates/template.ts';
import { mailDraft } from './e-mail.ts';
import { userIdOf } from './notification.ts';
import { filledFields, targetOf } from './write-object.ts';

/**
 * Returns what an action would do for a record, with its templates filled. Executes nothing.
 * @throws errors of templates and of the action's own look-ups: errors of the catalogue, ActionFailed
 */
export async function draftOf(draft: ActionDraft): Promise<JsonObject> {
  const { action } = draft;
  switch (action.type) {
    case 'create-object': {
      const { table, fields } = action.data;
      const existing = tableOf(draft, table);
      return { table, fields: await filledFields(draft, fields, existing), ...(!existing && { makesTable: true }) };
    }
    case 'update-object': {
      const { className, objectId } = targetOf({ ...draft, action });
      return { table: className, objectId, fields: await filledFields(draft, action.data.fields, tableOf(draft, className)) };
    }
    case 'e-mail': {
      const { texts, problem } = await mailDraft({ ...draft, action });
      const { to, cc, bcc, subject, html } = texts;
      return { to, ...(cc && { cc }), ...(bcc && { bcc }), subject, html, ...(problem !== null && { wouldFail: problem }) };
    }
    case 'notification': {
      const filler = fillerFor(draft);
      const { content, icon } = action.data;
      const user = await userIdOf({ ...draft, action }, filler);
      const nobody = user === null && { wouldFail: 'There is no user to be notified.' };
      return { user, content: await filler.text(content), ...(icon !== null && { icon: await filler.text(icon) }), ...nobody };
    }
    case 'server-side-code':
      return { ...action.data, record: draft.record.objectId };
  }
}

const tableOf = ({ system }: ActionDraft, name: string) => system.store.schema().tables.get(name);
