import { type AgentPermission, agentPermissions } from '../../access/index.ts';
import { escapeHtml } from '../../kernel/html.ts';
import type { Language } from '../../kernel/language.ts';
import { type Asking, aboutClient, nameOf } from './client.ts';
import { alert, isolated, page } from './page.ts';
import { texts } from './texts.ts';

/** What the consent page shows. */
export interface ConsentPage {
  readonly language: Language;
  readonly system: string;
  readonly asking: Asking;
  /** The user who is signed in. */
  readonly user: string;
  /** What the program asks for. */
  readonly asked: ReadonlySet<AgentPermission>;
  /** What of it the user has himself. */
  readonly available: ReadonlySet<AgentPermission>;
  /** Whether he allowed it and ticked nothing. */
  readonly isEmpty: boolean;
}

/** The page where a user says what a program may do in his name. He cannot give what he has not. */
export function consentPage(shown: ConsentPage): string {
  const { language, system, asking, user, asked, available, isEmpty } = shown;
  const { consent, cancel, back } = texts[language];
  const name = nameOf(asking, language);
  const form = `method="post" action="?lang=${language}" accept-charset="utf-8"`;
  // Isolated, whatever its direction.
  const title = consent.title(`\u2068${asking.name ?? texts[language].client.unnamed}\u2069`);
  // In the order of the permissions, whatever order they were asked in: to see comes first.
  const listed = agentPermissions.filter((permission) => asked.has(permission));
  const hasAny = listed.some((permission) => available.has(permission));
  return page(
    { language, system, title, hasSwitch: true },
    [
      // A form of its own: the enter key presses the first button of a form.
      `<form ${form}><p>${consent.as(isolated(user))} `,
      `<button class="link" type="submit" name="decision" value="switch">${escapeHtml(consent.other)}</button></p></form>`,
      hasAny ? `<p>${consent.lead(name)}</p>` : '',
      aboutClient(asking, language),
      alert(hasAny ? (isEmpty ? consent.nothingTicked : undefined) : `${consent.none} ${consent.noneNext}`),
      `<form ${form}><fieldset${isEmpty ? ' aria-describedby="fault"' : ''}><legend>${escapeHtml(consent.legend)}</legend>`,
      ...listed.map((permission) => choice(permission, { language, isAvailable: available.has(permission), isTicked: !isEmpty })),
      '</fieldset>',
      hasAny ? `<p class="small">${escapeHtml(consent.bound)}</p>` : '',
      hasAny ? `<button type="submit" name="decision" value="allow">${escapeHtml(consent.allow)}</button>` : '',
      `<button type="submit" name="decision" value="cancel" class="plain">${escapeHtml(hasAny ? cancel : back)}</button>`,
      '</form>',
    ].join(''),
  );
}

interface Choice {
  readonly language: Language;
  readonly isAvailable: boolean;
  readonly isTicked: boolean;
}

function choice(permission: AgentPermission, { language, isAvailable, isTicked }: Choice): string {
  const { consent, permissions } = texts[language];
  const [title, detail] = permissions[permission];
  const state = isAvailable ? (isTicked ? ' checked' : '') : ' disabled';
  return [
    `<label class="choice${isAvailable ? '' : ' no'}"><input type="checkbox" name="permission" value="${permission}"${state}>`,
    `<span><strong>${escapeHtml(title)}</strong><small>${escapeHtml(detail)}</small>`,
    isAvailable ? '' : `<small>${escapeHtml(consent.unavailable)}</small>`,
    '</span></label>',
  ].join('');
}
