-- +goose Up
-- Boots that an older conductor began hold no one-time word: they finish by the
-- lease alone. The mark goes with the boot.
UPDATE nodes SET doc = json_set(doc, '$.agent.unproven', json('true'))
WHERE provision_state IN ('deploying', 'wait call-back', 'cleaning', 'clean wait', 'inspecting', 'inspect wait',
    'rescuing', 'rescue wait', 'servicing', 'service wait');
