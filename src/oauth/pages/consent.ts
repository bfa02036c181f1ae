import { type AgentPermission, agentPermissions } from '../../access/index.ts';
import { escapeHtml } from '../../kernel/html.ts';
import type { Language } from '../../kernel/language.ts';
import { aboutClient, nameOf, type RequestingClient } from './client.ts';
import { alert, isolated, page } from './page.ts';
import { texts } from './texts.ts';

/** Contents of the consent page. */
export interface ConsentPage {
  readonly language: Language;
  readonly system: string;
  readonly asking: RequestingClient;
  /** The signed-in user. */
  readonly user: string;
  /** The permissions that the program requests. */
  readonly requested: ReadonlySet<AgentPermission>;
  /** The requested permissions that the user has. */
  readonly available: ReadonlySet<AgentPermission>;
  /** Whether the user allowed without selecting a permission. */
  readonly isEmpty: boolean;
}

/** Renders the page where a user grants permissions to a program. Only permissions of the user can be granted. */
export function consentPage(shown: ConsentPage): string {
  const { language, system, asking, user, requested, available, isEmpty } = shown;
  const { consent, cancel, back } = texts[language];
  const name = nameOf(asking, language);
  const form = `method="post" action="?lang=${language}" accept-charset="utf-8"`;
  // Isolated from the text direction of the sentence.
  const title = consent.title(`\u2068${asking.name ?? texts[language].client.unnamed}\u2069`);
  // Always in the order of the catalogue of permissions: viewing comes first.
  const listed = agentPermissions.filter((permission) => requested.has(permission));
  const hasAny = listed.some((permission) => available.has(permission));
  return page(
    { language, system, title, hasSwitch: true },
    [
      // A separate form: the enter key activates a form's first button.
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
