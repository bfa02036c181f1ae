/**
 * A public form that subscribes an e-mail address. Sending it again only adds what is new.
 *
 *     curl -X POST "$BASE_URL/functions/$APP_ID/newsletter" -H 'Content-Type: application/json' \
 *       -d '{"email": "dana@example.com", "name": "Dana", "interests": ["gardening"]}'
 */
import { defineFunction, z } from 'record-data-service';

export default defineFunction({
  input: z.object({
    email: z.email().max(80),
    name: z.string().trim().max(100).optional(),
    // A form with a single interest sends a text instead of a list.
    interests: z
      .union([z.string().transform((one) => [one]), z.array(z.string())])
      .pipe(z.array(z.string().max(60)).max(20))
      .optional(),
  }),

  async run({ input: { email, name, interests = [] }, system }) {
    const subscriber = await system.first<{ Unsubscribed?: boolean }>('Accounts', { where: { Email: email } });
    const accountId =
      subscriber?.objectId ?? (await system.create('Accounts', { Email: email, Name: name, IsAccount: false })).objectId;
    if (subscriber?.Unsubscribed) await system.update('Accounts', accountId, { Unsubscribed: false });

    // Unknown interests are ignored, since anyone can send anything.
    const known = interests.length > 0 ? await system.find('Interests', { where: { Name: { $in: interests } } }) : [];
    const pointers = known.map(({ objectId }) => ({ __type: 'Pointer', className: 'Interests', objectId }));
    if (pointers.length > 0)
      await system.update('Accounts', accountId, { array_interests_Pointer_Interests: { __op: 'AddUnique', objects: pointers } });

    // The same answer for new and existing subscribers, so that it does not reveal who is subscribed.
    return { subscribed: true };
  },
});
