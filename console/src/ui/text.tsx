import type { FieldModel } from '../../../src/console/protocol/protocol.ts';
import { isLtr, linkOf, withoutOverrides } from '../model/text.ts';
import { safeUrl } from '../model/values.ts';

/** Text from data, isolated from the surrounding text direction: `‏דנה (VIP) 3` stays as it was typed. */
export function Name({ children }: { children: string }) {
  return <bdi>{withoutOverrides(children)}</bdi>;
}

/** An id, a phone, an e-mail address: left to right in every language. */
export function Ltr({ children }: { children: string }) {
  return (
    <bdi dir="ltr" className="ltr">
      {withoutOverrides(children)}
    </bdi>
  );
}

/** The text of a field in the direction of its kind, as a link if it can be followed. */
export function FieldText({ field, isLinked, children }: { field: FieldModel; isLinked: boolean; children: string }) {
  const text = isLtr(field, children) ? <Ltr>{children}</Ltr> : <Name>{children}</Name>;
  const link = isLinked ? linkOf(field, children) : null;
  if (!link || !(link.startsWith('mailto:') || link.startsWith('tel:') || safeUrl(link))) return text;
  const isPage = /^https?:/i.test(link);
  return (
    <a href={link} {...(isPage ? { target: '_blank', rel: 'noreferrer noopener' } : {})}>
      {text}
    </a>
  );
}
